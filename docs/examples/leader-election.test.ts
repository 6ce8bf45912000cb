import { ConfigMap, CustomResourceDefinition, Lease } from "@windlass/runtime/kinds";
import { Simulation, waitFor } from "@windlass/testing";
import { expect, test } from "vitest";
import { Greeting } from "./greeting.ts";
import { operator } from "./leader-election.ts";

test("when the leader is killed, the standby takes over once the lease has run out", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const { client, clock } = world;
  await client.create(CustomResourceDefinition, Greeting.crd());
  await world.settle();
  const first = await world.run("first", operator);
  const second = await world.run("second", operator);
  await world.advance(5_000);
  expect([first.manager.isLeading, second.manager.isLeading]).toEqual([true, false]);

  first.crash();
  const killedAt = clock.now();
  const key = { namespace: "default", name: "ada" };
  await client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await world.until(waitFor(client, ConfigMap, key, () => true, { clock }));
  expect(clock.now() - killedAt).toBeGreaterThan(10_000);
  expect(clock.now() - killedAt).toBeLessThan(20_000);

  await second.stop();
  const lease = await client.get(Lease, { namespace: "default", name: "greeting-operator" });
  expect(lease.spec).toMatchObject({ holderIdentity: "", leaseTransitions: 1 });
});
