import { isNotFound } from "@windlass/client";
import { controller, defineResource, manager, migrateStoredVersions } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Deployment, Lease, Pod } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { z } from "zod";
import { Simulation } from "./simulate.ts";
import { Site, site } from "./site.fixture.ts";
import { firstDifference, type Trace } from "./trace.ts";
import { waitFor, waitForCondition, waitForDeletion } from "./wait.ts";

const key = { namespace: "default", name: "web" };
const lease = { namespace: "default", name: "site-operator" };

async function startWorld(seed: number): Promise<Simulation> {
  const world = await Simulation.start({ seed });
  await world.install(Site);
  return world;
}

function runOperator(world: Simulation, identity: string) {
  return world.run(identity, (options) =>
    manager({ ...options, leaderElection: { ...lease, identity } }).add(site),
  );
}

/**
 * A life: created, scaled, edited behind the operator's back, taken over by another replica, and
 * deleted.
 */
async function play(seed: number): Promise<Trace> {
  await using world = await startWorld(seed);
  const { client, clock } = world;
  const first = await runOperator(world, "first");
  const second = await runOperator(world, "second");
  await client.create(Site, { metadata: key, spec: { image: "nginx:1.25", replicas: 2 } });
  await world.until(waitForCondition(client, Site, key, "Ready", "True", { clock }));
  await client.patch(Site, key, { type: "merge", patch: { spec: { replicas: 4 } } });
  await world.until(waitFor(client, Site, key, ({ status }) => status?.available === 4, { clock }));
  await client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: 1 } } });
  await world.advance(5_000);
  first.crash();
  await client.patch(Site, key, { type: "merge", patch: { spec: { replicas: 3 } } });
  await world.until(waitFor(client, Site, key, ({ status }) => status?.available === 3, { clock }));
  await client.delete(Site, key, { propagationPolicy: "Foreground" });
  await world.until(waitForDeletion(client, Site, key, { clock }));
  await world.advance(60_000);
  await second.stop();
  return world.trace;
}

test.for([1, 2, 3])("seed %i gives the same run twice, byte for byte", async (seed) => {
  const [one, other] = [await play(seed), await play(seed)];
  expect(firstDifference(one, other)).toBeUndefined();
  expect(String(one) === String(other)).toBe(true);
  expect(one.lines.length).toBeGreaterThan(200);
});

test("another seed gives another run", async () => {
  const [one, other] = [await play(1), await play(2)];
  expect(firstDifference(one, other)).toMatch(/^the runs part at line \d+:/);
});

test("a trace tells reads, writes and events with their times, versions and managers", async () => {
  const lines = String(await play(4));
  expect(lines).toMatch(
    /^\+0 test #\d+ → POST \/apis\/testing\.windlass\.dev\/v1\/namespaces\/default\/sites/m,
  );
  expect(lines).toMatch(/^\+0 first #\d+ ← \{"type":"ADDED","object":.*"uid":"[0-9a-f-]{36}"/m);
  expect(lines).toMatch(/^\+0 server ADDED pods default\/web-\w+-\w+ \d+ \{"metadata":/m);
  expect(lines).toMatch(/^\+\d+ first crashes$/m);
  expect(lines).toMatch(/"managedFields":\[\{"manager":"test".*"time":"2026-01-01T00:00:00Z"/);
});

test("time stands still until it is moved, and stops where it was asked to", async () => {
  await using world = await startWorld(1);
  const began = world.clock.now();
  await world.settle();
  expect(world.clock.now()).toBe(began);
  await world.advance(90_000);
  expect(world.clock.now()).toBe(began + 90_000);
});

test("time is moved by any duration, and neither back nor by what is none", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const began = world.clock.now();
  await world.advance("2m");
  expect(world.clock.now()).toBe(began + 120_000);
  for (const nonsense of [-1, Number.NaN]) await expect(world.advance(nonsense)).rejects.toThrow(RangeError);
  expect(world.clock.now()).toBe(began + 120_000);
});

test("a crashed operator does nothing more, and keeps its lease until that runs out", async () => {
  await using world = await startWorld(1);
  const first = await runOperator(world, "first");
  await runOperator(world, "second");
  first.crash();
  const linesOf = (name: string) => world.trace.lines.filter((line) => line.includes(` ${name} #`)).length;
  const before = linesOf("first");
  await world.advance(5_000);
  const holder = async () => (await world.client.get(Lease, lease)).spec?.holderIdentity;
  expect(await holder()).toBe("first");
  await world.advance(20_000);
  expect(await holder()).toBe("second");
  expect(linesOf("first")).toBe(before);
});

test("in a quiet hour informers keep their watches, and no controller writes", async () => {
  await using world = await startWorld(1);
  await world.run("operator", (options) => manager(options).add(site));
  await world.advance(60_000);
  const began = world.trace.lines.length;
  await world.advance(3_600_000);
  const lines = world.trace.lines.slice(began);
  const count = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
  expect(count(/ (→ (POST|PUT|PATCH|DELETE)|server) /)).toBe(0);
  // Three kinds, each watched for five minutes or more at a time, with a bookmark each minute.
  expect(count(/ → GET /)).toBeLessThanOrEqual(3 * 12);
  expect(count(/BOOKMARK/)).toBeGreaterThanOrEqual(3 * 50);
});

const day = 24 * 3_600_000;

test("a quiet day with informers and two candidates for a lease costs next to nothing, and the lease is fresh at its end", async () => {
  await using world = await startWorld(1);
  const first = await runOperator(world, "first");
  const second = await runOperator(world, "second");
  await world.advance(60_000);
  const began = { lines: world.trace.lines.length, cpu: process.threadCpuUsage() };
  await world.advance(day);
  const { user, system } = process.threadCpuUsage(began.cpu);
  // Some 0.4 s, and 0.6 s on a machine with ten times more to do than it can; without the rest of
  // leases, half a minute.
  expect((user + system) / 1_000).toBeLessThan(1_500);
  const lines = world.trace.lines.slice(began.lines);
  expect(lines.filter((line) => line.includes("→ PUT ")).length).toBeLessThan(400);
  expect([first.manager.isLeading, second.manager.isLeading]).toEqual([true, false]);
  const { spec } = await world.client.get(Lease, lease);
  expect(spec?.leaseTransitions ?? 0).toBe(0);
  expect(world.clock.now() - Date.parse(spec?.renewTime ?? "")).toBeLessThanOrEqual(2_000);
}, 60_000);

test("a leader that is killed in the middle of a quiet day is followed as soon as its lease runs out", async () => {
  await using world = await startWorld(1);
  const first = await runOperator(world, "first");
  await runOperator(world, "second");
  let followed = 0;
  world.plane.onWrite(({ resource, json }) => {
    if (resource === "leases.coordination.k8s.io" && json.includes('"holderIdentity":"second"'))
      followed ||= world.clock.monotonic();
  });
  const at = day / 2 + 1_234;
  world.clock.schedule(at - world.clock.monotonic(), () => first.crash());
  await world.advance(day);
  // Fifteen seconds from the last renewal, and up to the next look.
  expect(followed - at).toBeGreaterThan(10_000);
  expect(followed - at).toBeLessThan(20_000);
}, 60_000);

test("a leader that cannot renew in the middle of a quiet day stops when it must", async () => {
  await using world = await startWorld(1);
  const first = await runOperator(world, "first");
  const at = day / 2 + 1_234;
  const leading: boolean[] = [];
  world.clock.schedule(at - world.clock.monotonic(), () => {
    world.plane.faults.add({ resources: ["leases"], error: { code: 500 } });
    for (const ms of [7_000, 11_000]) world.clock.schedule(ms, () => leading.push(first.manager.isLeading));
  });
  await world.advance(day / 2 + 30_000);
  expect(leading).toEqual([true, false]);
}, 60_000);

test("an operator that is stopped hands over at once", async () => {
  await using world = await startWorld(1);
  const first = await runOperator(world, "first");
  const second = await runOperator(world, "second");
  await first.stop();
  expect(second.manager.isLeading).toBe(false);
  await world.advance(2_500);
  expect(second.manager.isLeading).toBe(true);
});

test("waiting for what will not come fails in simulated time, not in real time", async () => {
  await using world = await startWorld(1);
  const waiting = waitFor(world.client, Pod, { namespace: "default", name: "nobody" }, () => true, {
    clock: world.clock,
    timeout: 3_600_000,
  });
  await expect(world.until(waiting, 7_200_000)).rejects.toThrow(/Pod default\/nobody: .* did not come about/);
  const never = new Promise(() => undefined);
  await expect(world.until(never)).rejects.toThrow("nothing is under way, and no timer is set");
  await runOperator(world, "first");
  await expect(world.until(never, 1_000)).rejects.toThrow("not come about within 1000 ms of simulated time");
});

test("waiting in vain shows what the operators logged last, and so can a test that fails", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const broken = controller(ConfigMap, {
    reconcile: () => {
      throw new Error("no disk is left");
    },
  });
  await world.run("broken", (options) => manager(options).add(broken));
  await world.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });
  const never = new Promise(() => undefined);
  await expect(world.until(never, "1s")).rejects.toThrow(
    /within 1000 ms of simulated time\nthe operators logged last:\n[\s\S]*broken error: .*no disk is left/,
  );
  expect(world.operatorLog).toMatch(/^broken .*no disk is left/m);
});

test("a wait in the middle of a request does not keep the simulation from settling", async () => {
  await using world = await startWorld(1);
  using _slow = world.plane.faults.add({ verbs: ["get"], resources: ["pods"], delay: 5_000 });
  const read = world.client.get(Pod, { namespace: "default", name: "nobody" });
  await expect(world.until(read)).rejects.toSatisfy(isNotFound);
  expect(world.clock.monotonic()).toBe(5_000);
});

test("the next leader goes on with a migration of stored versions where the last one was killed", async () => {
  const v1 = defineResource({
    group: "testing.windlass.dev",
    version: "v1",
    kind: "Parcel",
    spec: z.object({ to: z.string() }),
  });
  const v2 = defineResource({ ...v1.definition, version: "v2", spec: z.object({ to: z.string() }) });
  const Parcel = v2.withVersion(v1, { to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) });
  await using world = await Simulation.start({ seed: 11 });
  await world.install(v1);
  const names = Array.from({ length: 1_200 }, (_, index) => `parcel-${String(index).padStart(4, "0")}`);
  for (const name of names)
    await world.client.create(v1, { metadata: { namespace: "default", name }, spec: { to: "x" } });
  await world.install(Parcel.crd({ conversion: "None" }));
  const start = (identity: string) =>
    world.run(identity, (options) =>
      manager({ ...options, leaderElection: { ...lease, identity } }).add(migrateStoredVersions([Parcel])),
    );
  const rewrites = (identity: string) =>
    world.trace.lines.filter(
      (line) => line.includes(identity) && line.includes("PATCH") && line.includes("/parcels/"),
    );
  using _slow = world.plane.faults.add({ verbs: ["patch"], resources: ["parcels"], delay: 10 });
  const first = await start("first");
  // The first page has been rewritten when its checkpoint is there.
  await world.until(
    waitFor(
      world.client,
      CustomResourceDefinition,
      { name: "parcels.testing.windlass.dev" },
      ({ metadata }) => metadata.annotations?.["windlass.dev/migration"],
      { clock: world.clock, timeout: 600_000 },
    ),
  );
  first.crash();
  const done = rewrites("first").length;
  expect(done).toBeLessThan(names.length);
  await start("second");
  const trimmed = await world.until(
    waitFor(
      world.client,
      CustomResourceDefinition,
      { name: "parcels.testing.windlass.dev" },
      ({ status }) => (status?.storedVersions?.length === 1 ? status.storedVersions : undefined),
      { clock: world.clock, timeout: 600_000 },
    ),
  );
  expect(trimmed).toEqual(["v2"]);
  expect(rewrites("second").length).toBeLessThanOrEqual(names.length - 500);
}, 60_000);
