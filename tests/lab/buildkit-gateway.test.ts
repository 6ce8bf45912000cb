import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { inspect, type KeyPair } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { Pod, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAuthorities } from "../../operators/buildkit/src/certificates/authority-secret.ts";
import { forgeries } from "../../operators/buildkit/src/gateway/forgeries.fixture.ts";
import {
  BuildKitWorker,
  clusterSecrets,
  keyringDataKey,
  poolKeyring,
  poolNames,
  readKeyring,
  signingAuthority,
  workerServerName,
} from "../../operators/buildkit/src/index.ts";
import { textData } from "../../operators/buildkit/src/secret-data.ts";
import { build, gatewayServerName, startBuild } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/**
 * The gateway in its pod, by what it lets in, what it refuses, and what it goes through without a
 * break.
 */
let operator: LabOperator;
let namespace: string;
let allocated: Allocated;
let address: { readonly host: string; readonly port: number };
const pool = () => ({ namespace, name: "ci" });

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
  await operator.createPool(namespace, "ci", {
    scaling: { min: 1, max: 4, scaleDownDelay: "10m" },
    gateway: { drainTimeout: "60s", resources: { cpu: "1", memory: "256Mi" } },
  });
  allocated = await operator.allocate(pool());
  const { spec } = await operator.client.get(Service, pool());
  address = { host: spec?.clusterIP ?? "", port: spec?.ports?.[0]?.port ?? 0 };
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const report = (what: string, figure: string | number) => process.stdout.write(`  ${what}: ${figure}\n`);
const pairOf = ({ certificate, key }: Allocated): KeyPair => ({ certificate, key });
const secret = async (where: string, name: string) =>
  textData(await operator.client.get(Secret, { namespace: where, name }));

/** A TLS connection to the gateway, or elsewhere. */
async function handshake(pair: KeyPair | undefined, own: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({
    ...address,
    servername: gatewayServerName(pool()),
    ca: allocated.ca,
    ALPNProtocols: ["h2"],
    ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
    ...own,
  });
  await once(socket, "secureConnect");
  return socket;
}

/** Calls buildkitd's Info, and says with which status of gRPC that ended. */
async function call(pair: KeyPair | undefined, own: ConnectionOptions = {}) {
  const socket = await handshake(pair, own);
  const session = connectHttp2("https://gateway", { createConnection: () => socket });
  session.on("error", () => session.destroy());
  try {
    return await new Promise<{ readonly status: number; readonly message: string }>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/moby.buildkit.v1.Control/Info",
        "content-type": "application/grpc",
        te: "trailers",
      });
      let headers: IncomingHttpHeaders = {};
      stream.on("response", (found) => {
        headers = { ...headers, ...found };
      });
      stream.on("trailers", (found) => {
        headers = { ...headers, ...found };
      });
      stream.on("error", reject);
      stream.on("close", () => {
        const status = headers["grpc-status"];
        if (status === undefined) reject(new Error("the connection ended without an answer"));
        resolve({
          status: Number(status),
          message: decodeURIComponent(headers["grpc-message"]?.toString() ?? ""),
        });
      });
      stream.resume();
      stream.end(Buffer.alloc(5));
    });
  } finally {
    session.destroy();
    socket.destroy();
  }
}

test("forged, expired and foreign certificates and tokens are all refused, with the reason", async () => {
  const clients = signingAuthority(
    readAuthorities(await secret(operator.namespace, clusterSecrets.clientAuthorities)),
    systemClock,
  );
  const workers = signingAuthority(
    readAuthorities(await secret(namespace, poolNames("ci").workerAuthoritiesSecret)),
    systemClock,
  );
  const keys = await secret(operator.namespace, clusterSecrets.tokenKeys);
  const clusterKeys = readKeyring(keys[keyringDataKey] ?? "");
  if (!clients || !workers) throw new Error("there are no authorities");
  expect(await call(pairOf(allocated))).toMatchObject({ status: 0 });
  const all = forgeries({
    pool: pool(),
    clients,
    workers,
    clusterKeys,
    keys: poolKeyring(clusterKeys, pool()),
    worker: allocated.workerName,
    token: allocated.token,
    pair: pairOf(allocated),
  });
  const wrong: string[] = [];
  for (const { what, make, status, message } of all) {
    const answer = await call(make()).catch((error: unknown) => ({ status: -1, message: String(error) }));
    if (answer.status !== status || !message.test(answer.message))
      wrong.push(`${what}: ${answer.status} ${answer.message}`);
  }
  report("forgeries tried at the gateway", all.length);
  expect(wrong).toEqual([]);
  expect(all.length).toBeGreaterThanOrEqual(40);
}, 300_000);

test("what a client or another pool has opens no worker directly, and what a worker's own pool has does", async () => {
  await operator.createPool(namespace, "other", { scaling: { min: 1, max: 1 } });
  const { status } = await operator.client.get(Pod, { namespace, name: allocated.workerName });
  const worker = { host: status?.podIP ?? "", port: 1_234 };
  const servername = workerServerName({ namespace, name: allocated.workerName });
  const own = await secret(namespace, poolNames("ci").clientCertsSecret);
  const foreign = await secret(namespace, poolNames("other").clientCertsSecret);
  const pairIn = (data: typeof own): KeyPair => ({
    certificate: data["client.crt"] ?? "",
    key: data["client.key"] ?? "",
  });
  const at = { ...worker, servername, ca: own["ca.crt"] ?? "" };
  expect(await call(pairIn(own), at)).toMatchObject({ status: 0 });
  // TLS 1.3 reports a bad certificate to its client with the first thing that it reads.
  for (const [what, pair] of [
    ["a client's", pairOf(allocated)],
    ["another pool's gateway's", pairIn(foreign)],
    ["nothing", undefined],
  ] as const)
    await expect(call(pair, at), what).rejects.toThrow(/alert|closed|ECONNRESET|without an answer|aborted/i);
  // The other way round: a worker of another pool does not pass for one of this pool's.
  await expect(call(pairIn(foreign), { ...at, ca: foreign["ca.crt"] ?? "" })).rejects.toThrow(
    /verify|signed|issuer/i,
  );
  await operator.deletePool({ namespace, name: "other" });
});

describe("clients of all kinds", () => {
  test.each(["TLSv1.2", "TLSv1.3"] as const)("%s, with and without ALPN", async (version) => {
    const versions = { minVersion: version, maxVersion: version };
    expect(await call(pairOf(allocated), { ...versions, ALPNProtocols: ["h2"] })).toMatchObject({
      status: 0,
    });
    expect(await call(pairOf(allocated), { ...versions, ALPNProtocols: ["h2", "http/1.1"] })).toMatchObject({
      status: 0,
    });
    const without = await handshake(pairOf(allocated), { ...versions, ALPNProtocols: undefined });
    expect(without.alpnProtocol).toBe(false);
    expect(without.getProtocol()).toBe(version);
    without.destroy();
    await expect(handshake(pairOf(allocated), { ...versions, ALPNProtocols: ["http/1.1"] })).rejects.toThrow(
      /no application protocol/i,
    );
  });

  test("TLS 1.1 is refused", async () => {
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(handshake(pairOf(allocated), old)).rejects.toThrow();
  });
});

test("openssl reads every certificate, no name is longer than it may be, and no two serials are the same", async () => {
  const others = await Promise.all([1, 2, 3].map(() => operator.allocate(pool())));
  const found = [
    ...[allocated, ...others].map(({ certificate }) => certificate),
    (await secret(namespace, "ci-tls"))["tls.crt"] ?? "",
    (await secret(namespace, "ci-client-certs"))["client.crt"] ?? "",
    (await secret(namespace, `${allocated.workerName}-tls`))["tls.crt"] ?? "",
  ];
  const serials = found.map((pem) => {
    const text = execFileSync("openssl", ["x509", "-noout", "-subject", "-serial"], {
      input: pem,
      encoding: "utf8",
    });
    expect(inspect(pem).subject.commonName?.length ?? 0).toBeLessThanOrEqual(64);
    return /serial=([0-9A-F]+)/.exec(text)?.[1] ?? "";
  });
  expect(new Set(serials).size).toBe(found.length);
  for (const serial of serials) expect(serial.length).toBeGreaterThanOrEqual(28);
  await Promise.all(others.map((one) => operator.release(one)));
});

test("while the operator is down, new connections reach their workers, and builds end well", async () => {
  await Promise.all([operator.kill(0), operator.kill(1)]);
  try {
    for (const tool of ["buildctl", "buildx"] as const) {
      const end = await build(operator.client, allocated, {
        tool,
        steps: [`RUN echo ${crypto.randomUUID()}`],
      });
      expect(end.output).toContain("DONE");
      expect(end.code).toBe(0);
    }
  } finally {
    await Promise.all([operator.revive(0), operator.revive(1)]);
  }
});

test("a new certificate is shown without a restart, and the build that is under way goes on", async () => {
  const serial = async () => {
    const socket = await handshake(pairOf(allocated));
    const { serialNumber } = socket.getPeerX509Certificate() ?? new X509Certificate(allocated.certificate);
    socket.destroy();
    return serialNumber;
  };
  const pods = async () =>
    (
      await operator.client.list(Pod, {
        namespace,
        labelSelector: "app.kubernetes.io/name=buildkit-gateway,buildkit.smrt-devops.net/pool=ci",
      })
    ).items.map(({ metadata, status }) => [metadata, status?.containerStatuses?.[0]?.restartCount] as const);
  const before = { serial: await serial(), pods: await pods() };
  const running = await startBuild(operator.client, allocated, {
    steps: [`RUN echo ${crypto.randomUUID()} && /bin/busybox sleep 100`, "RUN echo whole"],
  });
  await operator.client.delete(Secret, { namespace, name: "ci-tls" });
  const startedAt = performance.now();
  while ((await serial()) === before.serial) {
    expect(performance.now() - startedAt).toBeLessThan(150_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  report(
    "new certificate shown after",
    `${((performance.now() - startedAt) / 1_000).toFixed(1)} s, most of it the kubelet's`,
  );
  const after = await pods();
  expect(after.map(([{ uid }, restarts]) => [uid, restarts])).toEqual(
    before.pods.map(([{ uid }, restarts]) => [uid, restarts]),
  );
  const end = await running.ended;
  expect(end.output).toContain("whole");
  expect(end.code).toBe(0);
}, 300_000);

test("a large context goes through whole, and so does a large result; the gateway's memory stays", async () => {
  const selector = "app.kubernetes.io/name=buildkit-gateway,buildkit.smrt-devops.net/pool=ci";
  const inGateway = (script: string) => {
    const name = execFileSync("kubectl", ["get", "pods", "-n", namespace, "-l", selector, "-o", "name"], {
      encoding: "utf8",
    }).trim();
    return execFileSync("kubectl", ["exec", "-n", namespace, name, "--", "/usr/bin/node", "-p", script], {
      encoding: "utf8",
    });
  };
  /** What it has in memory, and the most that it has had. */
  const memory = () => {
    const status = inGateway("require('fs').readFileSync('/proc/1/status','utf8')");
    const of = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
    return { now: of("VmRSS"), most: of("VmHWM") };
  };
  const bytes = 1_024 * 1_048_576;
  const folder = await mkdtemp(join(tmpdir(), "buildkit-large-"));
  try {
    const large = Buffer.alloc(bytes, "0123456789abcdef and so on, ");
    const digest = createHash("sha256").update(large).digest("hex");
    const before = memory();
    const end = await build(operator.client, allocated, {
      steps: ["COPY large /large", "RUN /bin/busybox sha256sum /large"],
      files: { large },
      args: ["--output", `type=local,dest=${folder}`],
    });
    expect(end.output).toContain(digest);
    expect(end.code).toBe(0);
    const received = createHash("sha256");
    await pipeline(createReadStream(join(folder, "large")), received);
    expect(received.digest("hex")).toBe(digest);
    const grown = memory().most - before.now;
    report("each way", `${bytes / 1_048_576} MiB, build in ${(end.ms / 1_000).toFixed(1)} s`);
    report("gateway's memory grew by", `${grown.toFixed(1)} MiB at most`);
    expect(grown).toBeLessThan(64);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 600_000);

test("a crowd of idle connections is held, and those who never finish their handshake are dropped", async () => {
  const { connect: connectTcp } = await import("node:net");
  const slow = connectTcp(address);
  await once(slow, "connect");
  const startedAt = performance.now();
  const idle: TLSSocket[] = [];
  for (let batch = 0; batch < 15; batch++)
    idle.push(...(await Promise.all(Array.from({ length: 10 }, () => handshake(pairOf(allocated))))));
  report("idle connections of one allocation", idle.length);
  const end = await build(operator.client, allocated, { steps: [`RUN echo ${crypto.randomUUID()}`] });
  expect(end).toMatchObject({ code: 0 });
  await once(slow, "close");
  report(
    "a client that says nothing is dropped after",
    `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
  );
  expect(idle.filter(({ destroyed }) => destroyed)).toHaveLength(0);
  // The limit of one allocation is 200.
  const more = await Promise.all(Array.from({ length: 60 }, () => handshake(pairOf(allocated))));
  const refused = await call(pairOf(allocated));
  expect(refused).toMatchObject({ status: 8 });
  for (const socket of [...idle, ...more]) socket.destroy();
}, 120_000);

test("metrics have the original's names, and say what goes on", async () => {
  const selector = "app.kubernetes.io/name=buildkit-gateway,buildkit.smrt-devops.net/pool=ci";
  const { items } = await operator.client.list(Pod, { namespace, labelSelector: selector });
  const gateway = async () => await (await fetch(`http://${items[0]?.status?.podIP}:9090/metrics`)).text();
  const sample = (text: string, name: string, label = "") =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`) && line.includes(label) && line.includes('pool="ci"'))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  const running = await startBuild(operator.client, allocated, {
    steps: [`RUN echo ${crypto.randomUUID()} && /bin/busybox sleep 8`],
  });
  const key = { namespace, name: allocated.workerName };
  await waitFor(operator.client, BuildKitWorker, key, ({ status }) => status?.phase === "Running", {
    timeout: 30_000,
  });
  const during = await gateway();
  expect(sample(during, "buildkit_gateway_active_connections")).toBeGreaterThanOrEqual(1);
  expect(sample(during, "buildkit_gateway_connections_total", 'status="success"')).toBeGreaterThan(0);
  expect(sample(during, "buildkit_gateway_connections_total", 'status="bad_token"')).toBeGreaterThan(0);
  const before = sample(during, "buildkit_gateway_connection_duration_seconds_count");
  // A pool is checked once a second.
  const leader = await operator.leader();
  await expect
    .poll(async () => sample(await operator.metrics(leader), "buildkit_workers_total", 'phase="running"'), {
      timeout: 5_000,
    })
    .toBe(1);
  await running.ended;
  // The gateway's connection ends once its worker has closed it too.
  await expect
    .poll(async () => sample(await gateway(), "buildkit_gateway_connection_duration_seconds_count"), {
      timeout: 5_000,
    })
    .toBeGreaterThan(before);
  const counted = async (name: string) => {
    const texts = await Promise.all([operator.metrics(0), operator.metrics(1)]);
    return texts.reduce((sum, text) => sum + sample(text, name), 0);
  };
  const names = ["buildkit_worker_allocation_duration_seconds_count", "buildkit_worker_allocations_total"];
  const first = await Promise.all(names.map(counted));
  const other = await operator.allocate(pool());
  await expect
    .poll(() => Promise.all(names.map(counted)), { timeout: 30_000, interval: 500 })
    .toEqual(first.map((count) => count + 1));
  await operator.release(other);
});
