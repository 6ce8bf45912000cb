import { afterAll, beforeAll, expect, test } from "vitest";
import { BuildKitWorker } from "../../operators/buildkit/src/index.ts";
import { ClientPod } from "../../operators/buildkit/testing/client-pod.ts";
import { LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** The command line client in a pod of a CI job, which has a token and nothing else. */
let operator: LabOperator;
let namespace: string;
let pod: ClientPod;

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
  await operator.createPool(namespace, "ci", { scaling: { min: 1, max: 4, scaleDownDelay: "10m" } });
  pod = await ClientPod.start(operator, namespace);
  const dockerfile = [
    "FROM scratch",
    "COPY busybox /bin/busybox",
    'SHELL ["/bin/busybox", "sh", "-c"]',
    "ARG ROUND",
    "ENV ROUND=$ROUND",
  ].join("\\n");
  const made = await pod.shell(
    `mkdir -p /tmp/context && printf '${dockerfile}\\n' > /tmp/context/Dockerfile && cp /bin/busybox /tmp/context/`,
  );
  expect(made).toMatchObject({ code: 0 });
}, 900_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const pool = () => ["--pool", "ci", "--namespace", namespace];
const withBuildctl = [
  "--frontend=dockerfile.v0",
  "--local=context=/tmp/context",
  "--local=dockerfile=/tmp/context",
  "--progress=plain",
];
/** Files with keys anywhere that a client writes to. */
const keys = async () => {
  const { output } = await pod.shell("grep -rl 'PRIVATE KEY' /tmp /dev/shm 2>/dev/null; true");
  return output.split("\n").filter((line) => line !== "");
};
const allReleased = () =>
  expect
    .poll(
      async () => {
        const { items } = await operator.client.list(BuildKitWorker, { namespace });
        return items.every(({ spec }) => spec.allocation === undefined);
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(true);

test("doctor finds that all is well, and says what is wrong otherwise", async () => {
  const well = await pod.cli("doctor", ...pool());
  expect(well).toMatchObject({ code: 0 });
  expect(well.output).not.toContain("WRONG");
  const wrong = await pod.cli("doctor", "--pool", "nosuch", "--namespace", namespace);
  expect(wrong.code).not.toBe(0);
  expect(wrong.output).toContain(`there is no pool ${namespace}/nosuch`);
});

test("build with buildctl, with nothing but a token, leaves no key and no allocation behind", async () => {
  const { code, output } = await pod.cli("build", ...pool(), "--with", "buildctl", "--", ...withBuildctl);
  expect(output).toContain("DONE");
  expect(code).toBe(0);
  expect(await keys()).toEqual([]);
  await allReleased();
});

test("build with buildx's remote driver, with nothing but a token, against the pool's one endpoint", async () => {
  const { code, output } = await pod.cli(
    "build",
    ...pool(),
    "--with",
    "buildx",
    "--",
    "--progress=plain",
    "/tmp/context",
  );
  expect(output).toContain("using remote driver");
  expect(code).toBe(0);
  expect(await keys()).toEqual([]);
  const builders = await pod.run("buildx", "ls");
  expect(builders.output).not.toContain("windlass-");
  await allReleased();
});

test("a build for several platforms has a worker for each, or none", async () => {
  const scaling = { max: 1, scaleDownDelay: "10m" } as const;
  // Variants of the one architecture that the node has; and one that it has not.
  const otherPlatforms = [
    { platform: "linux/amd64/v2", poolName: "second" },
    { platform: "linux/arm64", poolName: "absent" },
  ];
  await operator.createPool(namespace, "first", { scaling, platform: "linux/amd64", otherPlatforms });
  await operator.createPool(namespace, "second", { scaling, platform: "linux/amd64/v2" });
  await operator.createPool(namespace, "absent", { scaling, platform: "linux/arm64" });
  const first = ["--pool", "first", "--namespace", namespace];
  const platforms = "linux/amd64,linux/amd64/v2";
  const { code, output } = await pod.cli(
    "build",
    ...first,
    "--platforms",
    platforms,
    "--",
    "--progress=plain",
    "--platform",
    platforms,
    "/tmp/context",
  );
  expect(output).toMatch(/linux\/amd64\b/);
  expect(output).toMatch(/linux\/amd64\/v2/);
  expect(code).toBe(0);
  expect(await keys()).toEqual([]);
  await allReleased();
  const token = await operator.token(namespace);
  const body = {
    poolName: "first",
    namespace,
    jobId: "both",
    wait: "2s",
    platforms: ["linux/amd64", "linux/arm64"],
  };
  expect(await operator.ask("POST", "/api/v1/workers/allocate", { token, body })).toMatchObject({
    status: 202,
  });
  await allReleased();
  for (const name of ["first", "second", "absent"]) await operator.deletePool({ namespace, name });
}, 300_000);

test("a build that fails ends with the code of its program, and leaves nothing behind", async () => {
  const bad = withBuildctl.map((one) =>
    one.replace("--local=dockerfile=/tmp/context", "--local=dockerfile=/app"),
  );
  const { code, output } = await pod.cli("build", ...pool(), "--with", "buildctl", "--", ...bad);
  expect(output).toContain("buildctl ended with 1");
  expect(code).toBe(1);
  expect(await keys()).toEqual([]);
  await allReleased();
});

test("allocate, status, list, renew and release", async () => {
  const allocated = await pod.cli("allocate", ...pool(), "--tlsdir", "/tmp/mine", "--ttl", "10m");
  expect(allocated).toMatchObject({ code: 0 });
  expect((await pod.shell("ls -l /tmp/mine")).output).toMatch(/-rw-------.*tls\.key/);
  const status = await pod.cli("status", ...pool());
  expect(status.output).toContain("Running");
  expect((await pod.cli("list")).output).toContain("ci");
  expect(await pod.cli("renew", "--tlsdir", "/tmp/mine", "--ttl", "20m")).toMatchObject({ code: 0 });
  const direct = await pod.shell(
    `/usr/bin/buildctl --addr tcp://ci.${namespace}.svc:1235 --tlsdir /tmp/mine debug workers`,
  );
  expect(direct.output).toContain("linux/amd64");
  expect(direct).toMatchObject({ code: 0 });
  expect(await pod.cli("release", "--tlsdir", "/tmp/mine")).toMatchObject({ code: 0 });
  expect(await keys()).toEqual([]);
  await allReleased();
});

test("a client that is ended or killed at any point leaves no key after its next run, and no allocation", async () => {
  const slow = "RUN echo $ROUND && /bin/busybox sleep 30";
  await pod.shell(`printf '${slow}\\n' >> /tmp/context/Dockerfile`);
  for (const [index, [signal, after]] of (
    [
      ["INT", 0.3],
      ["TERM", 0.8],
      ["HUP", 1.5],
      ["INT", 3],
      ["KILL", 0.5],
      ["KILL", 1.2],
      ["KILL", 2],
      ["KILL", 4],
    ] as const
  ).entries()) {
    const round = `--opt=build-arg:ROUND=${index}-${Date.now()}`;
    const args = ["build", ...pool(), "--with", "buildctl", "--", ...withBuildctl, round].join(" ");
    await pod.shell(
      `node /app/main.js ${args} > /tmp/out 2>&1 & pid=$!; sleep ${after}; kill -${signal} $pid; wait $pid; true`,
    );
    if (signal !== "KILL") expect(await keys()).toEqual([]);
  }
  // buildctl itself goes on when its parent is killed; its worker is given back by the next run.
  await pod.shell("killall buildctl; true");
  await pod.shell("sed -i '/^RUN/d' /tmp/context/Dockerfile");
  const next = await pod.cli("build", ...pool(), "--with", "buildctl", "--", ...withBuildctl);
  expect(next).toMatchObject({ code: 0 });
  expect(await keys()).toEqual([]);
  await allReleased();
});
