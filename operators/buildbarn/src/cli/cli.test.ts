import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { runProgram, type Terminal } from "@windlass/cli";
import { dump, loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandInFrontend } from "../../testing/stand-in-frontend.ts";
import { windlassBuildbarn } from "./program.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-buildbarn-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(args: readonly string[], input = "") {
  let [said, complained] = ["", ""];
  const terminal: Terminal = {
    stdout: { write: (text) => (said += text) },
    stderr: { write: (text) => (complained += text) },
    stdin: Readable.from([input]),
    env: {},
    folder,
    signal: new AbortController().signal,
  };
  const code = await runProgram(windlassBuildbarn, args, terminal);
  return { code, said, complained };
}

function cluster(spec: object = {}): object {
  return {
    apiVersion: "buildbarn.io/v1alpha1",
    kind: "BuildbarnCluster",
    metadata: { name: "bb", namespace: "builds" },
    spec: { workers: [{ name: "linux" }], ...spec },
  };
}

async function file(name: string, ...objects: readonly object[]): Promise<string> {
  await writeFile(join(folder, name), objects.map((one) => dump(one)).join("---\n"));
  return name;
}

test("a good set is valid, component by component", { timeout: 60_000 }, async () => {
  const { code, said } = await run(["validate", await file("good.yaml", cluster())]);
  expect(code).toBe(0);
  expect(said.trim().split("\n")).toEqual([
    "BuildbarnStorage builds/bb-storage: valid",
    "BuildbarnScheduler builds/bb-scheduler: valid",
    "BuildbarnFrontend builds/bb-frontend: valid",
    "BuildbarnWorker builds/bb-linux: valid",
  ]);
});

test("the samples are valid", { timeout: 60_000 }, async () => {
  const samples = join(import.meta.dirname, "../../config/samples");
  const names = (await readdir(samples)).filter((name) => name.endsWith(".yaml"));
  const { code, complained } = await run(["validate", ...names.map((name) => join(samples, name))]);
  expect(complained).toBe("");
  expect(code).toBe(0);
});

test("what an API server would refuse is reported with file and field", async () => {
  const bad = cluster({ scheduler: { replicas: 2 } });
  const { code, complained } = await run(["validate", await file("bad.yaml", bad)]);
  expect(code).toBe(1);
  expect(complained).toContain("bad.yaml: BuildbarnCluster bb:");
  expect(complained).toContain("spec.scheduler.replicas");
});

test("what a program would refuse is reported with file, line and column", async () => {
  const bad = cluster({ frontend: { configOverrides: "{\n  grpcServer: [],\n}" } });
  const { code, complained } = await run(["validate", await file("override.yaml", bad)]);
  expect(code).toBe(1);
  expect(complained).toMatch(/BuildbarnFrontend builds\/bb-frontend: overrides\.libsonnet:2:3: grpcServer/);
});

test("an expression that is no JMESPath is reported with field, line and column", async () => {
  const bad = cluster({
    frontend: {
      tls: { secretName: "cert" },
      authentication: {
        jwt: { configMapName: "keys", claimsValidation: "iss == 'ci' &&\n  contain(aud, 'bazel')" },
      },
      authorization: { execute: "claims.sub = 'ci'" },
    },
  });
  const { code, complained } = await run(["validate", await file("expressions.yaml", bad)]);
  expect(code).toBe(1);
  expect(complained).toContain(
    "BuildbarnFrontend builds/bb-frontend: spec.authentication.jwt.claimsValidation: is no JMESPath that can be answered: line 2, column 3: there is no function contain;",
  );
  expect(complained).toContain(
    "; spec.authorization.execute: is no JMESPath that can be answered: line 1, column 12: expected an operator or the end, found =",
  );
});

test("a set that lacks a component names it", async () => {
  const alone = { ...cluster(), kind: "BuildbarnFrontend", spec: {} };
  const { code, complained } = await run(["validate", await file("alone.yaml", alone)]);
  expect(code).toBe(1);
  expect(complained).toContain('no BuildbarnStorage has spec.cluster "buildbarn"');
});

test("a custom ConfigMap is found in the files, and checked", { timeout: 60_000 }, async () => {
  const own = (text: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "own", namespace: "builds" },
    data: { "storage.jsonnet": text },
  });
  const using = cluster({ storage: { configMapName: "own" } });
  expect((await run(["validate", await file("none.yaml", using)])).complained).toContain(
    'there is no ConfigMap "own"',
  );
  const broken = await run(["validate", await file("broken.yaml", using, own("{ grpcServers: [ }"))]);
  expect(broken.complained).toMatch(/storage\.jsonnet:1:\d+/);
});

test("manifests come from standard input too, and as JSON the answer is for programs", async () => {
  const { code, said } = await run(["validate", "--json", "-"], JSON.stringify(cluster()));
  expect(code).toBe(0);
  expect(JSON.parse(said)).toEqual({ faults: [], warnings: [] });
});

test("render prints the ConfigMaps of the operator, or writes their files", { timeout: 60_000 }, async () => {
  const path = await file("rendered.yaml", cluster());
  const { said } = await run(["render", path]);
  const printed = loadAll(said) as readonly { metadata: { name: string }; data: Record<string, string> }[];
  expect(printed).toHaveLength(4);
  const [storage] = printed;
  expect(storage?.metadata.name).toMatch(/^bb-storage-config-[0-9a-f]{10}$/);
  expect((await run(["render", path, "--output", "out"])).code).toBe(0);
  expect((await readdir(join(folder, "out"))).toSorted()).toEqual([
    "bb-frontend",
    "bb-linux",
    "bb-scheduler",
    "bb-storage",
  ]);
  expect(await readFile(join(folder, "out/bb-storage/storage.jsonnet"), "utf8")).toBe(
    storage?.data["storage.jsonnet"],
  );
  expect(await readdir(join(folder, "out/bb-linux"))).toContain("worker-ubuntu22-04.jsonnet");
});

test("plan goes through the phases of a change of shards, and prints what is rolled", {
  timeout: 60_000,
}, async () => {
  const before = await file("two.yaml", cluster());
  const after = await file("three.yaml", cluster({ storage: { replicas: 3 }, frontend: { replicas: 5 } }));
  const { code, said } = await run(["plan", "--from", before, after]);
  expect(code).toBe(0);
  const phases = said.split("\n").flatMap((line) => /^reshard .*: (\w+):/.exec(line)?.[1] ?? []);
  expect(phases).toEqual([
    "Starting",
    "Bridging",
    "Redirecting",
    "Copying",
    "Switching",
    "Retiring",
    "Stable",
  ]);
  expect(said).toContain("roll    BuildbarnWorker builds/bb-linux: pods are replaced: common.libsonnet");
  expect(said).toContain("scale   BuildbarnFrontend builds/bb-frontend: from 3 to 5 pods");
  expect(said).not.toContain("BuildbarnScheduler");
});

test("plan prints that mirrors move no blob, and that drained shards do", { timeout: 60_000 }, async () => {
  const before = await file("plain.yaml", cluster());
  const planned = async (storage: object) => {
    const { said } = await run(["plan", "--from", before, await file("changed.yaml", cluster({ storage }))]);
    return said.split("\n").flatMap((line) => /^reshard .*?: (\w+: .*)$/.exec(line)?.[1] ?? []);
  };
  expect(await planned({ mirrored: true })).toEqual([
    "Starting: 2 shards to start",
    "Switching: frontends, browsers and workers are rolled to the map of 2 shards (2m)",
    "Retiring: no shard has to stop",
    "Stable: 2 shards (2m)",
  ]);
  expect((await planned({ drained: [1] })).map((line) => line.split(":")[0])).toEqual([
    "Starting",
    "Bridging",
    "Redirecting",
    "Copying",
    "Switching",
    "Retiring",
    "Stable",
  ]);
});

test.for<readonly [string, object, readonly string[]]>([
  [
    "resources of a frontend",
    { frontend: { resources: { requests: { cpu: "1" } } } },
    ["roll    BuildbarnFrontend builds/bb-frontend: pods are replaced: resources"],
  ],
  [
    "the image that actions run in, which is part of what they must ask for",
    { workers: [{ name: "linux", runnerImage: "example.com/tools:2" }] },
    [
      "roll    BuildbarnScheduler builds/bb-scheduler: pods are replaced: scheduler.jsonnet",
      "roll    BuildbarnWorker builds/bb-linux: pods are replaced: runnerImage, worker-ubuntu22-04.jsonnet",
    ],
  ],
  [
    "a certificate of a frontend, which then has a way for its scheduler",
    { frontend: { tls: { secretName: "pair" } } },
    [
      "roll    BuildbarnScheduler builds/bb-scheduler: pods are replaced: scheduler.jsonnet",
      "roll    BuildbarnFrontend builds/bb-frontend: pods are replaced: tls, frontend.jsonnet",
    ],
  ],
  [
    "where shards run, and larger volumes",
    { storage: { nodeSelector: { disk: "fast" }, cas: { volume: { size: "40Gi" } } } },
    [
      "grow    BuildbarnStorage builds/bb-storage: volumes of cas grow from 33Gi to 40Gi, if their StorageClass allows it; pods run on",
      "roll    BuildbarnStorage builds/bb-storage: pods are replaced: nodeSelector",
    ],
  ],
  ["what is not in pods", { frontend: { minReadySeconds: 3, probe: {} } }, ["Nothing would change."]],
])(
  "plan prints whose pods are replaced, and by which field: %s",
  { timeout: 60_000 },
  async ([, spec, steps]) => {
    const before = await file("before.yaml", cluster());
    const { said } = await run(["plan", "--from", before, await file("after.yaml", cluster(spec))]);
    expect(said.trim().split("\n")).toEqual(steps);
  },
);

test("plan prints that nothing would change, and what is made where there is nothing", {
  timeout: 60_000,
}, async () => {
  const path = await file("same.yaml", cluster());
  expect((await run(["plan", "--from", path, path])).said).toBe("Nothing would change.\n");
  const other = await file("other.yaml", { ...cluster(), metadata: { name: "other", namespace: "builds" } });
  expect((await run(["plan", "--from", other, path])).said).toContain(
    "create  BuildbarnStorage builds/bb-storage: 2 pods",
  );
});

test("plan refuses a change that the cluster would refuse, and names what would be emptied where it is allowed", {
  timeout: 60_000,
}, async () => {
  const before = await file("small.yaml", cluster());
  const larger = (allowCacheFlush: boolean) =>
    cluster({ storage: { allowCacheFlush, cas: { volume: { size: "70Gi" }, blocks: { size: "64Gi" } } } });
  const refused = await run(["plan", "--from", before, await file("larger.yaml", larger(false))]);
  expect(refused.code).toBe(1);
  expect(refused.complained).toContain("allowCacheFlush");
  const allowed = await run(["plan", "--from", before, await file("flush.yaml", larger(true))]);
  expect(allowed.said).toContain(
    "flush   BuildbarnStorage builds/bb-storage: contentAddressableStorage is emptied",
  );
});

test("probe runs an action, and prints what Bazel would have received", async () => {
  await using frontend = await StandInFrontend.start();
  const good = await run(["probe", `grpc://${frontend.address}`]);
  expect(good).toMatchObject({ code: 0, said: expect.stringContaining("found in the cache") });
  frontend.fault = "noWorkers";
  const bad = await run(["probe", frontend.address, "--platform", "OSFamily=linux,pool=large"]);
  expect(bad).toMatchObject({ code: 1, complained: expect.stringContaining("No workers exist") });
});

test("roles prints rights in the namespaces that are named, and none on others", async () => {
  const { said } = await run(["roles", "builds", "team", "--installed", "system"]);
  const objects = loadAll(said) as readonly {
    kind: string;
    metadata: { namespace?: string };
    rules?: readonly { resources: readonly string[] }[];
    subjects?: readonly object[];
  }[];
  expect(objects.map(({ kind, metadata: { namespace } }) => [kind, namespace])).toEqual([
    ["ClusterRole", undefined],
    ["ClusterRoleBinding", undefined],
    ["Role", "builds"],
    ["RoleBinding", "builds"],
    ["Role", "team"],
    ["RoleBinding", "team"],
  ]);
  expect(objects[0]?.rules?.flatMap(({ resources }) => resources)).toEqual([
    "customresourcedefinitions",
    "storageclasses",
  ]);
  expect(objects[3]?.subjects).toEqual([
    { kind: "ServiceAccount", name: "buildbarn-operator", namespace: "system" },
  ]);
});

test.for([
  ["an invalid endpoint", ["probe", "http://x/y"], "name an endpoint"],
  ["TLS without authorities", ["probe", "grpcs://x:1"], "--ca"],
  ["a malformed platform", ["probe", "x:1", "--platform", "linux"], "NAME=VALUE"],
  ["no file", ["validate"], "name a file"],
  ["no namespace", ["roles"], "name the namespaces"],
  ["a file that is not there", ["validate", "nowhere.yaml"], "nowhere.yaml"],
  ["two places to begin from", ["plan", "--from", "a", "--context", "b", "c"], "--context"],
])("a command line with %s is refused", async ([, args, words]) => {
  const { code, complained } = await run(args as string[]);
  expect(code).not.toBe(0);
  expect(complained).toContain(words);
});

test("the program runs by itself", { timeout: 60_000 }, async () => {
  const program = join(import.meta.dirname, "..", "..", "bin", "windlass-buildbarn.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--help"]);
  expect(stdout).toContain("windlass-buildbarn");
});
