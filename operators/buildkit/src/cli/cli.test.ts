import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runProgram, type Terminal } from "@windlass/cli";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiTestEnvironment, octocatRule } from "../api/api-environment.fixture.ts";
import { BuildKitRequest } from "../request/request.ts";
import { BuildKitWorker } from "../worker/index.ts";
import { windlassBuildkit } from "./program.ts";

const environment = await ApiTestEnvironment.start({ replicas: 1 });
const root = await mkdtemp(join(tmpdir(), "windlass-buildkit-cli-"));
afterAll(async () => {
  await environment[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});
const auth = { rbac: { rules: [octocatRule] } };
await environment.pools.pool("ci", { scaling: { min: 2, max: 2 }, auth });
const program = join(import.meta.dirname, "..", "..", "bin", "windlass-buildkit.js");
const runtime = join(root, "runtime");
const bin = join(root, "bin");
let env: Record<string, string>;

beforeAll(async () => {
  await writeFile(join(root, "ca.crt"), environment.pools.trust);
  await mkdir(bin);
  await mkdir(runtime, { mode: 0o700 });
  await vi.waitFor(async () => expect(await idle()).toBe(2));
});
beforeEach(() => {
  env = {
    BKCTL_ENDPOINT: `https://localhost:${environment.ports[0]}`,
    BKCTL_TLS_CA_CERT: join(root, "ca.crt"),
    BKCTL_TOKEN: environment.token(),
    BKCTL_POOL: "ci",
    BKCTL_NAMESPACE: environment.namespace,
    XDG_RUNTIME_DIR: runtime,
    PATH: `${bin}:${process.env.PATH}`,
  };
});

async function workers() {
  return (await environment.client.list(BuildKitWorker, { namespace: environment.namespace })).items;
}
const idle = async () =>
  (await workers()).filter(
    ({ spec, status }) => spec.poolRef.name === "ci" && !spec.allocation && status?.phase === "Idle",
  ).length;
const held = async () => (await workers()).filter(({ spec }) => spec.allocation).length;
const keys = async () => await readdir(join(runtime, `windlass-buildkit-${process.getuid?.() ?? 0}`));

/** A stand-in for buildctl, which says how it was called. */
async function buildctl(script: string): Promise<void> {
  await writeFile(join(bin, "buildctl"), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, "buildctl"), 0o755);
}

/** Runs the program in this process. */
async function run(...args: string[]) {
  return await runUntil(new AbortController().signal, ...args);
}

async function runUntil(signal: AbortSignal, ...args: string[]) {
  let [said, complained] = ["", ""];
  const terminal: Terminal = {
    stdout: { write: (text) => (said += text) },
    stderr: { write: (text) => (complained += text) },
    stdin: Readable.from([]),
    env,
    folder: root,
    signal,
  };
  const code = await runProgram(windlassBuildkit, args, terminal);
  return { code, said, complained };
}

describe("allocate", () => {
  test("writes what buildctl --tlsdir takes, readable by their user alone; renew replaces it, release removes it", async () => {
    const folder = join(root, "certs");
    const { code, said } = await run("allocate", "--tlsdir", folder, "--ttl", "10m");
    expect(code).toBe(0);
    expect(said).toContain(
      `buildctl --addr tcp://ci.${environment.namespace}.svc:1235 --tlsdir ${folder} build`,
    );
    expect((await readdir(folder)).sort()).toEqual(["allocation.json", "ca.crt", "tls.crt", "tls.key"]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder))
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, "tls.key"), "utf8")).toContain("PRIVATE KEY");
    const before = await readFile(join(folder, "tls.crt"), "utf8");
    expect((await run("renew", "--tlsdir", folder, "--ttl", "2h")).code).toBe(0);
    expect(await readFile(join(folder, "tls.crt"), "utf8")).not.toBe(before);
    expect(await held()).toBe(1);
    expect((await run("release", "--tlsdir", folder)).code).toBe(0);
    await expect(stat(folder)).rejects.toThrow("ENOENT");
    expect(await held()).toBe(0);
  });

  test("prints JSON, and release takes a token that was released already for done", async () => {
    const { code, said } = await run("allocate", "--json");
    expect(code).toBe(0);
    const allocation = JSON.parse(said) as Record<string, string>;
    expect(Buffer.from(allocation.clientKey ?? "", "base64").toString()).toContain("PRIVATE KEY");
    for (let turn = 0; turn < 2; turn++)
      expect((await run("release", "--allocation-token", allocation.token ?? "")).code).toBe(0);
  });

  test("gives up after its timeout, and leaves the queue", async () => {
    const all = await Promise.all([run("allocate", "--json"), run("allocate", "--json")]);
    const late = await run("allocate", "--json", "--timeout", "200ms");
    expect(late.code).toBe(4);
    expect(late.complained).toContain("no worker of");
    for (const { said } of all)
      await run("release", "--allocation-token", (JSON.parse(said) as { token: string }).token);
    await vi.waitFor(async () => expect(await idle()).toBe(2));
  });
});

test("allocate --github gives setup-buildx-action what it reads, and release in a later step ends it", async () => {
  const [variables, outputs] = [join(root, "github-env"), join(root, "github-output")];
  expect((await run("allocate", "--github")).complained).toContain("GITHUB_ENV");
  expect(await held()).toBe(0);
  Object.assign(env, { GITHUB_ENV: variables, GITHUB_OUTPUT: outputs });
  const { code, said } = await run("allocate", "--github");
  expect(code).toBe(0);
  const text = await readFile(variables, "utf8");
  const values = Object.fromEntries(
    [...text.matchAll(/^(\w+)<<(end-.+)\n([\s\S]+?)\n\2$/gm)].map(([, name, , value]) => [name, value]),
  );
  expect(values).toEqual({
    BUILDER_NODE_0_AUTH_TLS_CACERT: expect.stringContaining("BEGIN CERTIFICATE"),
    BUILDER_NODE_0_AUTH_TLS_CERT: expect.stringContaining("BEGIN CERTIFICATE"),
    BUILDER_NODE_0_AUTH_TLS_KEY: expect.stringContaining("PRIVATE KEY"),
    BKCTL_ALLOCATION_TOKEN: expect.any(String),
  });
  expect(await readFile(outputs, "utf8")).toMatch(/^endpoint=tcp:\/\/ci\..+:1235\nworker=ci-worker-\d\n$/);
  // Every secret that is printed is one that GitHub is asked to mask.
  expect(said.split("\n").filter((line) => line !== "" && !line.startsWith("::add-mask::"))).toEqual([]);
  for (const line of values.BUILDER_NODE_0_AUTH_TLS_KEY?.split("\n").slice(1, -1) ?? [])
    expect(said).toContain(`::add-mask::${line}`);
  expect((await run("release")).code).not.toBe(0);
  Object.assign(env, values);
  expect((await run("release")).code).toBe(0);
  expect(await held()).toBe(0);
});

test("logs shows the build that began last, or the one that is asked for", async () => {
  const folder = join(root, "logs");
  await run("allocate", "--tlsdir", folder);
  const histories = ["a", "b", "c"]
    .map((Ref, index) => JSON.stringify({ record: { Ref, CreatedAt: { seconds: [5, 9, 7][index] } } }))
    .join("\n");
  const called = join(root, "called");
  await buildctl(`case "$*" in *histories*) echo '${histories}';; *) echo "$@" > ${called};; esac`);
  expect((await run("logs", "--tlsdir", folder)).code).toBe(0);
  expect(await readFile(called, "utf8")).toMatch(/--tlsdir .*logs debug logs --progress plain b\n$/);
  expect((await run("logs", "--tlsdir", folder, "a")).code).toBe(0);
  expect(await readFile(called, "utf8")).toMatch(/ a\n$/);
  await buildctl(":");
  expect((await run("logs", "--tlsdir", folder)).complained).toContain("nothing was built");
  await run("release", "--tlsdir", folder);
});

describe("what was not handed over is given back", () => {
  const requests = async () =>
    (await environment.client.list(BuildKitRequest, { namespace: environment.namespace })).items.length;

  test.for([0, 1, 2, 3, 5, 8, 13, 21, 34, 55])(
    "by Ctrl-C %i ms after the start of the first request, with workers free",
    async (ms) => {
      const ctrlC = new AbortController();
      const running = runUntil(ctrlC.signal, "allocate", "--json");
      await new Promise((resolve) => setTimeout(resolve, ms));
      ctrlC.abort();
      const { code, said } = await running;
      // It may have been done already: then the caller has it.
      if (code === 0)
        await run("release", "--allocation-token", (JSON.parse(said) as { token: string }).token);
      expect(await held()).toBe(0);
      expect(await requests()).toBe(0);
      await vi.waitFor(async () => expect(await idle()).toBe(2));
    },
  );

  test("by Ctrl-C in the first request, while none is free", async () => {
    const all = await Promise.all([run("allocate", "--json"), run("allocate", "--json")]);
    const ctrlC = new AbortController();
    const waiting = runUntil(ctrlC.signal, "allocate", "--json");
    await vi.waitFor(async () => expect(await requests()).toBe(1));
    ctrlC.abort();
    expect((await waiting).code).not.toBe(0);
    expect(await requests()).toBe(0);
    for (const { said } of all)
      await run("release", "--allocation-token", (JSON.parse(said) as { token: string }).token);
    await vi.waitFor(async () => expect(await idle()).toBe(2));
  });

  test("where the pool cannot be reached from outside, or the folder cannot be written", async () => {
    expect((await run("allocate", "--json", "--external")).complained).toContain(
      "cannot be reached from outside",
    );
    expect(await held()).toBe(0);
    expect((await run("allocate", "--tlsdir", join(root, "ca.crt", "certs"))).code).not.toBe(0);
    expect(await held()).toBe(0);
    await vi.waitFor(async () => expect(await idle()).toBe(2));
  });
});

describe("exit codes say what kind of failure it is", () => {
  test.for<[string, (given: Record<string, string>) => void, readonly string[], number, string]>([
    ["no pool", (given) => delete given.BKCTL_POOL, ["status"], 2, "no pool given"],
    ["no token", (given) => delete given.BKCTL_TOKEN, ["list"], 3, "there is no token"],
    [
      "a bad token",
      (given) => Object.assign(given, { BKCTL_TOKEN: "nonsense" }),
      ["list"],
      3,
      "not accepted",
    ],
    [
      "another's pool",
      (given) => Object.assign(given, { BKCTL_TOKEN: environment.token("hubot") }),
      ["status"],
      3,
      "may not",
    ],
    [
      "a pool that does not exist",
      (given) => Object.assign(given, { BKCTL_POOL: "nope" }),
      ["status"],
      1,
      "there is no pool",
    ],
    [
      "an API that is not there",
      (given) => Object.assign(given, { BKCTL_ENDPOINT: "https://127.0.0.1:1" }),
      ["list", "--retry-for", "300ms"],
      4,
      "cannot be reached",
    ],
    [
      "an authority that is not trusted",
      (given) => delete given.BKCTL_TLS_CA_CERT,
      ["list", "--retry-for", "0s"],
      4,
      "cannot be reached",
    ],
    [
      "no TLS",
      (given) => Object.assign(given, { BKCTL_ENDPOINT: "http://localhost:8082" }),
      ["list"],
      1,
      "must start with https://",
    ],
    [
      "an invalid option",
      () => undefined,
      ["allocate", "--json", "--timeout", "soon"],
      2,
      "is not a duration",
    ],
    ["an unknown command", () => undefined, ["alocate"], 2, "Did you mean allocate?"],
  ])("%s", async ([, change, args, code, text]) => {
    change(env);
    const answered = await run(...args);
    expect(answered.complained).toContain(text);
    expect(answered.code).toBe(code);
  });
});

test("status, list and doctor say how things are, for people and for programs", async () => {
  expect((await run("status")).said).toContain("workers   2 total, 2 idle");
  expect(JSON.parse((await run("status", "--json")).said)).toMatchObject({ name: "ci", ready: true });
  expect((await run("list")).said).toContain(`${environment.namespace}/ci  Pending`);
  const { said, code } = await run("doctor");
  expect(said).toContain("ok    a token: BKCTL_TOKEN");
  expect(said).toContain("ok    the allocation API");
  expect(said).toContain(
    `WRONG the pool's gateway: tcp://ci.${environment.namespace}.svc:1235 cannot be reached`,
  );
  expect(code).toBe(1);
});

test("help teaches each command, with an example", async () => {
  expect((await run("--help")).said).toContain("BKCTL_ENDPOINT");
  for (const { name } of windlassBuildkit.commands) {
    const { said, code } = await run(name, "--help");
    expect(code).toBe(0);
    expect(said).toContain("Examples:");
  }
});

test("GitHub's and GitLab's ID tokens, and a ServiceAccount's file, say who it is", async () => {
  const asked: string[] = [];
  await using github = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    response.end(JSON.stringify({ value: environment.token() }));
  });
  github.listen(0, "127.0.0.1");
  await once(github, "listening");
  delete env.BKCTL_TOKEN;
  const { port } = github.address() as AddressInfo;
  Object.assign(env, {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "secret",
  });
  expect((await run("list")).code).toBe(0);
  expect(asked).toEqual(["Bearer secret /token?api-version=2&audience=buildkit-controller"]);
  env.BUILDKIT_ID_TOKEN = environment.token();
  expect((await run("list")).code).toBe(0);
  expect(asked).toHaveLength(1);
  for (const name of ["BUILDKIT_ID_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"]) delete env[name];
  env.BUILDKIT_TOKEN_FILE = join(root, "token");
  await writeFile(env.BUILDKIT_TOKEN_FILE, `${await environment.accountToken(environment.namespace)}\n`);
  expect((await run("list")).said).toContain(`${environment.namespace}/ci`);
  delete env.BUILDKIT_TOKEN_FILE;
  env.GITHUB_ACTIONS = "true";
  expect((await run("list")).complained).toContain("id-token: write");
});

describe("build", () => {
  const marker = join(root, "called");

  test("runs buildctl on a worker of its own, and leaves nothing behind", async () => {
    await buildctl(`echo "$@" > ${marker}; ls "$4" >> ${marker}; stat -c %a "$4"/tls.key >> ${marker}`);
    const { code } = await run("build", "--", "--frontend", "dockerfile.v0");
    expect(code).toBe(0);
    const called = await readFile(marker, "utf8");
    expect(called).toMatch(/^--addr tcp:\/\/ci\.\S+:1235 --tlsdir \S+ build --frontend dockerfile.v0\n/);
    expect(called).toContain("ca.crt\ntls.crt\ntls.key\n600");
    expect(await keys()).toEqual([]);
    await vi.waitFor(async () => expect(await idle()).toBe(2));
  });

  test("sets buildx up with the remote driver, and takes it down", async () => {
    const script = `#!/bin/sh\necho "$@" >> ${marker}.docker\n`;
    await writeFile(join(bin, "docker"), script, { mode: 0o755 });
    expect((await run("build", "--with", "buildx", "--", "-t", "app", ".")).code).toBe(0);
    const lines = (await readFile(`${marker}.docker`, "utf8")).split("\n");
    expect(lines[0]).toMatch(
      /^buildx create --name (\S+) --driver remote --driver-opt cacert=\/\S+\/ca.crt,cert=\/\S+\/tls.crt,key=\/\S+\/tls.key tcp:/,
    );
    expect(lines[1]).toMatch(/^buildx build --builder windlass-\S+ -t app \.$/);
    expect(lines[2]).toMatch(/^buildx rm --force windlass-/);
    expect(await keys()).toEqual([]);
  });

  test("gives the program the pool's cache backends by the project, unless its arguments have others", async () => {
    const registry = { endpoint: "r.example.com:5000", insecure: true };
    const backends = [{ type: "registry" as const, registry }];
    await environment.pools.pool("cached", { scaling: { min: 1, max: 1 }, auth, cache: { backends } });
    Object.assign(env, { BKCTL_POOL: "cached", GITHUB_REPOSITORY: "acme/shop" });
    const script = `echo "$@" > ${marker}`;
    const called = async (...args: string[]) => {
      expect((await run("build", ...args)).code).toBe(0);
      return await readFile(marker, "utf8");
    };
    await buildctl(script);
    const where = "type=registry,ref=r.example.com:5000/buildkit-cache:acme-shop-[0-9a-f]{12}";
    const [plain, ignore] = ["registry.insecure=true", "ignore-error=true"];
    expect(await called("--", "--frontend", "dockerfile.v0")).toMatch(
      new RegExp(
        `build --import-cache ${where},${plain} --export-cache ${where},mode=max,compression=zstd,${plain},${ignore} --frontend dockerfile.v0\n`,
      ),
    );
    expect(await called("--", "--export-cache=type=inline")).toMatch(/build --export-cache=type=inline\n/);
    expect(await called("--no-cache-backends", "--", "--no-cache")).toMatch(/build --no-cache\n/);
    await writeFile(join(bin, "docker"), `#!/bin/sh\n${script}.$2\n`, { mode: 0o755 });
    expect((await run("build", "--with", "buildx", "--", ".")).code).toBe(0);
    expect(await readFile(`${marker}.build`, "utf8")).toMatch(
      /--cache-from type=registry,ref=\S+ --cache-to type=registry,ref=\S+ \.\n/,
    );
  });

  test("--platforms gives buildx a node for each, on workers of their own, and takes all of them back", async () => {
    const spec = { scaling: { min: 1, max: 1 }, auth };
    const otherPlatforms = [{ platform: "linux/arm64", poolName: "arm" }];
    await environment.pools.pool("amd", { ...spec, platform: "linux/amd64", otherPlatforms });
    await environment.pools.pool("arm", { ...spec, platform: "linux/arm64" });
    env.BKCTL_POOL = "amd";
    const file = `${marker}.nodes`;
    await writeFile(join(bin, "docker"), `#!/bin/sh\necho "$@" >> ${file}\n`, { mode: 0o755 });
    const args = [
      "--platforms",
      "linux/amd64,linux/arm64",
      "--",
      "--platform",
      "linux/amd64,linux/arm64",
      ".",
    ];
    expect(await run("build", ...args)).toMatchObject({ code: 0 });
    const [first, second, build, removed] = (await readFile(file, "utf8")).split("\n");
    expect(first).toMatch(
      /^buildx create --name \S+ --driver remote .* --platform linux\/amd64 tcp:\/\/amd\./,
    );
    expect(second).toMatch(
      /^buildx create --name \S+ --append --driver remote .* --platform linux\/arm64 tcp:\/\/arm\./,
    );
    expect(build).toMatch(/^buildx build --builder \S+ --platform linux\/amd64,linux\/arm64 \.$/);
    expect(removed).toMatch(/^buildx rm --force /);
    expect(await keys()).toEqual([]);
    expect(await held()).toBe(0);
    expect(await run("build", "--with", "buildctl", "--platforms", "linux/amd64")).toMatchObject({ code: 2 });
    expect((await run("build", "--platforms", "linux/s390x", "--retry-for", "0s")).complained).toContain(
      "no workers of linux/s390x: it has linux/amd64, linux/arm64",
    );
  });

  test("ends with the exit code of the build", async () => {
    await buildctl("exit 42");
    expect((await run("build")).code).toBe(42);
    expect(await keys()).toEqual([]);
    await vi.waitFor(async () => expect(await idle()).toBe(2));
  });

  /** Starts a build that does not end, in a process of its own. */
  async function started(): Promise<ChildProcess> {
    await rm(marker, { force: true });
    await buildctl(`touch ${marker}; exec sleep 60`);
    const child = spawn(process.execPath, [program, "build"], { env, stdio: "ignore" });
    await vi.waitFor(() => stat(marker), { timeout: 10_000 });
    return child;
  }

  test.for(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "is ended by %s: the key is removed, the worker released",
    { timeout: 30_000 },
    async (signal) => {
      const child = await started();
      expect(await keys()).toHaveLength(1);
      child.kill(signal);
      const [code] = await once(child, "exit");
      expect(code).toBe(130);
      expect(await keys()).toEqual([]);
      await vi.waitFor(async () => expect(await held()).toBe(0));
    },
  );

  test("that was killed leaves nothing once the next one has run", { timeout: 30_000 }, async () => {
    const child = await started();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await keys()).toHaveLength(1);
    expect(await held()).toBe(1);
    await buildctl("exit 0");
    const { complained } = await run("build");
    expect(complained).toContain("a build that was killed has left");
    expect(await keys()).toEqual([]);
    await vi.waitFor(async () => expect(await held()).toBe(0));
  });
});
