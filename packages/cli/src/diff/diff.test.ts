import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane } from "@windlass/control-plane";
import { manager, silentLogger } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForCondition } from "@windlass/testing";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";
import { differences, essential } from "./differences.ts";
import { dryRun, withoutEffect } from "./dry-run.ts";
import { Shop, shopController } from "./shop.fixture.ts";

let folder: string;
let cluster: TestCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-diff-"));
  const fixture = JSON.stringify(join(import.meta.dirname, "shop.fixture.ts"));
  await writeFile(join(folder, "windlass.config.ts"), `export { operator } from ${fixture};`);
  await writeFile(join(folder, "package.json"), '{ "type": "module", "version": "1.0.0" }');
  cluster = await startCluster();
  await cluster.install(Shop);
}, 60_000);
afterAll(async () => {
  await cluster.close();
  await rm(folder, { recursive: true, force: true });
});

let key: { readonly namespace: string; readonly name: string };
beforeEach(async () => {
  key = { namespace: await cluster.createNamespace(), name: "corner" };
});

async function diff(...args: readonly string[]) {
  const terminal = recordingTerminal({ folder, env: { KUBECONFIG: await cluster.kubeconfig() } });
  const code = await runProgram(windlass, ["diff", "--namespace", key.namespace, ...args], terminal);
  const said = terminal.said().replaceAll(key.namespace, "here");
  return { code, said, complained: terminal.complained() };
}

const make = (replicas: number) => cluster.client.create(Shop, { metadata: key, spec: { replicas } });

/** Runs the operator until its object is settled. */
async function reconcile(): Promise<void> {
  const { client, hasControllers } = cluster;
  const options = { client, health: false, metrics: false, log: silentLogger } as const;
  await using running = manager({ ...options, namespaces: [key.namespace] }).add(shopController);
  await running.start();
  const available = hasControllers ? 2 : 0;
  await waitFor(client, Shop, key, ({ status }) => status?.available === available);
  await waitFor(client, Service, key, () => true);
}

async function everything(): Promise<unknown> {
  const { client } = cluster;
  const { namespace } = key;
  const kinds = [Shop, Deployment, Service];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind as typeof Shop, { namespace })));
  return lists.map(({ items }) => items);
}

test("what would be created is shown, and nothing is", async () => {
  await make(2);
  const before = await everything();
  const { code, said } = await diff();
  expect(code).toBe(0);
  expect(said).toContain("+ Deployment here/corner\n");
  expect(said).toContain("      replicas: 2\n");
  expect(said).toContain("+ Service here/corner\n");
  expect(said).toContain("~ Shop here/corner (status)\n");
  expect(await everything()).toEqual(before);
});

test("a settled cluster would not change, and one that was changed would change back", async () => {
  await make(2);
  await reconcile();
  expect(await diff("--check")).toMatchObject({ code: 0, said: "Nothing would change.\n" });

  await cluster.client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: 5 } } });
  const { code, said } = await diff("--check");
  expect(code).toBe(1);
  expect(said).toContain("~ Deployment here/corner\n    spec.replicas: 5 → 2\n");
});

test("what is no longer wanted would be deleted", async () => {
  await make(2);
  await reconcile();
  await cluster.client.patch(Shop, key, { type: "merge", patch: { spec: { isOpen: false } } });
  const { said } = await diff("--json");
  const changes = said
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { does: string; what: string });
  expect(changes).toContainEqual(expect.objectContaining({ does: "delete", what: "Service here/corner" }));
  expect((await cluster.client.get(Service, key)).metadata.deletionTimestamp).toBeUndefined();
});

test("a reconcile that fails is reported, and is nothing that a check passes", async () => {
  await make(13);
  // The operator has said so in the status: that would not change any more.
  const options = { client: cluster.client, health: false, metrics: false, log: silentLogger } as const;
  await using running = manager({ ...options, namespaces: [key.namespace] }).add(shopController);
  await running.start();
  await waitForCondition(cluster.client, Shop, key, "Ready", "False");
  await running.stop();
  const { code, said, complained } = await diff();
  expect(code).toBe(0);
  expect(complained).toContain("Shop ");
  expect(complained).toContain("thirteen");
  expect(said).toBe("Not known what would change: 1 error\n");
  const checked = await diff("--check");
  expect(checked.code).toBe(1);
  expect(checked.complained).toContain("reconciling ended with 1 error\n");
  const json = await diff("--check", "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.said)).toEqual({
    is: "error",
    what: "Shop here/corner",
    words: "thirteen is an unlucky number",
  });
});

test("a user who may not read what the operator reads gets an error at once", async () => {
  await using plane = await ControlPlane.start();
  const kubeconfig = join(folder, "nobody");
  await writeFile(kubeconfig, await plane.kubeconfig({ anonymous: true }));
  const terminal = recordingTerminal({ folder, env: { KUBECONFIG: kubeconfig } });
  expect(await runProgram(windlass, ["diff"], terminal)).toBe(1);
  expect(terminal.complained()).toMatch(
    /GET \/api.* is forbidden to you: this needs the rights that the operator has/,
  );
});

test("every write is one that servers do not store", () => {
  const write = { headers: {}, path: "/api/v1/pods/a" } as const;
  expect(withoutEffect({ ...write, method: "PATCH", body: "{}" }).path).toBe("/api/v1/pods/a?dryRun=All");
  expect(withoutEffect({ ...write, method: "PUT", path: "/a?force=true" }).path).toBe(
    "/a?force=true&dryRun=All",
  );
  expect(withoutEffect({ ...write, method: "DELETE" }).path).toBe("/api/v1/pods/a?dryRun=All");
  const preconditions = { uid: "1" };
  const { body } = withoutEffect({ ...write, method: "DELETE", body: JSON.stringify({ preconditions }) });
  expect(JSON.parse(String(body))).toEqual({ preconditions, dryRun: ["All"] });
  expect(() => withoutEffect({ ...write, method: "DELETE", body: "null" })).toThrow("without effect");
});

test("nobody needs the right to write events: they are not sent", async () => {
  const refusing = {
    close: () => Promise.resolve(),
    request: () => Promise.reject(new Error("it was sent")),
  };
  const transport = dryRun(() => {
    throw new Error("it counts as a write");
  })(refusing);
  const place = "/apis/events.k8s.io/v1/namespaces/acme/events";
  for (const [method, path, expected] of [
    ["POST", place, 201],
    ["PATCH", `${place}/corner.1`, 200],
  ] as const) {
    const { status, body } = await transport.request({ method, path, headers: {}, body: '{"note":"x"}' });
    expect(status).toBe(expected);
    expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('{"note":"x"}');
  }
});

test("fields that differ are named by their path, and by names where lists have them", () => {
  const before = { spec: { containers: [{ name: "web", image: "a:1" }], args: [1, 2] } };
  const after = {
    spec: {
      containers: [
        { name: "side", image: "s:1" },
        { name: "web", image: "a:2" },
      ],
      args: [2],
    },
  };
  expect(differences(before, after)).toEqual([
    { path: "spec.containers[web].image", before: "a:1", after: "a:2" },
    { path: "spec.containers[side]", before: undefined, after: { name: "side", image: "s:1" } },
    { path: "spec.args", before: [1, 2], after: [2] },
  ]);
});

test("there are differences if and only if two values differ", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((one) => JSON.parse(JSON.stringify(one)) as unknown);
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(differences(a, a)).toEqual([]);
      if (differences(a, b).length === 0) expect(sorted(a)).toEqual(sorted(b));
    }),
  );
});

/** Lists of named entries are alike in any order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return value;
}

test("what the server and the framework keep for themselves is no difference", () => {
  const object = (resourceVersion: string, applied: string) => ({
    metadata: { name: "a", resourceVersion, annotations: { "windlass.dev/applied": applied } },
  });
  expect(differences(essential(object("1", "x")), essential(object("2", "y")))).toEqual([]);
});
