/**
 * The WebApp operator and the embedded control plane in one process, with a handed-in clock and
 * randomness: the same seed gives the same run. Needs no server, so it is the same test wherever
 * the suite runs.
 */
import { manager } from "@windlass/runtime";
import { CustomResourceDefinition, Deployment, Pod } from "@windlass/runtime/kinds";
import {
  firstDifference,
  Simulation,
  type Trace,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { Policy, WebApp, webapp, webhooks } from "@windlass/webapp";
import { expect, test } from "vitest";

const key = { namespace: "default", name: "shop" };
const lease = { namespace: "default", name: "webapp-operator" };

/** A replica of the operator, with its webhooks, which are called in this process. */
function runReplica(world: Simulation, identity: string) {
  return world.run(identity, (options) =>
    manager({ ...options, leaderElection: { ...lease, identity } })
      .add(webapp)
      .add(webhooksOf(world)),
  );
}

function webhooksOf({ plane }: Simulation) {
  const server = webhooks(Policy.parse({}), {
    port: false,
    install: true,
    service: { namespace: "default" },
  });
  plane.bindService("default", "webapp-operator-webhook", 443, server.handle);
  return server;
}

async function startWorld(seed: number): Promise<Simulation> {
  const world = await Simulation.start({ seed });
  const conversion = webhooksOf(world).conversion();
  await world.client.create(CustomResourceDefinition, WebApp.crd({ conversion }));
  await world.settle();
  return world;
}

/** Create, scale, edit a child, lose the leader, stop the next one, delete. */
async function play(seed: number): Promise<Trace> {
  await using world = await startWorld(seed);
  const { client, clock } = world;
  const first = await runReplica(world, "first");
  const second = await runReplica(world, "second");
  await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25", replicas: 2 } });
  await world.until(waitForCondition(client, WebApp, key, "Ready", "True", { clock }));
  await client.subresource(WebApp, key, "scale").patch({ type: "merge", patch: { spec: { replicas: 4 } } });
  await world.until(waitFor(client, WebApp, key, ({ status }) => status?.availableReplicas === 4, { clock }));
  await client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: 1 } } });
  await world.until(waitFor(client, WebApp, key, ({ status }) => status?.availableReplicas === 4, { clock }));
  first.crash();
  await client.patch(WebApp, key, {
    type: "merge",
    patch: { spec: { replicas: 3, host: "shop.example.com" } },
  });
  await world.until(waitFor(client, WebApp, key, ({ status }) => status?.availableReplicas === 3, { clock }));
  const third = await runReplica(world, "third");
  await second.stop();
  await client.delete(WebApp, key);
  await world.until(waitForDeletion(client, WebApp, key, { clock }));
  await world.advance(60_000);
  await third.stop();
  expect((await client.list(Pod, { namespace: "default" })).items).toEqual([]);
  return world.trace;
}

/**
 * The same life on a server that fails now and then: refused, late, in conflict, cut off, its
 * history gone.
 */
async function playUnderFaults(seed: number): Promise<Trace> {
  await using world = await startWorld(seed);
  const { client, clock, plane } = world;
  await runReplica(world, "first");
  const users = { probability: 0.2 };
  plane.faults.add({ verbs: ["patch", "update"], ...users, error: { code: 503 } });
  plane.faults.add({ verbs: ["patch"], resources: ["deployments"], ...users, delay: 1_500 });
  plane.faults.add({ verbs: ["watch"], dropWatches: { after: 7_000 } });
  await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25", replicas: 3 } });
  await world.advance(20_000);
  plane.compact();
  await world.advance(20_000);
  plane.faults.clear();
  await world.until(
    waitForCondition(client, WebApp, key, "Ready", "True", { clock, timeout: 1_200_000 }),
    1_200_000,
  );
  return world.trace;
}

test.for([1, 2, 3])("seed %i plays the same life of a WebApp twice, byte for byte", async (seed) => {
  const [one, other] = [await play(seed), await play(seed)];
  expect(firstDifference(one, other)).toBeUndefined();
  expect(String(one) === String(other)).toBe(true);
});

test("another seed plays another life", async () => {
  const [one, other] = [await play(1), await play(2)];
  expect(firstDifference(one, other)).toMatch(/^the runs part at line/);
});

test.for([1, 2, 3])("seed %i meets the same faults twice, and comes through both times", async (seed) => {
  const [one, other] = [await playUnderFaults(seed), await playUnderFaults(seed)];
  expect(firstDifference(one, other)).toBeUndefined();
  expect(one.lines.some((line) => line.includes("← 503"))).toBe(true);
});
