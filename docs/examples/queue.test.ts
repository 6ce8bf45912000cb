import { manager } from "@windlass/runtime";
import { Job } from "@windlass/runtime/kinds";
import { Simulation } from "@windlass/testing";
import { expect, test } from "vitest";
import { Queue, queue } from "./queue.ts";

test("the Jobs of a queue are counted as they come and end", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const { client } = world;
  await world.install(Queue);
  await world.run("queue", (options) => manager(options).add(queue));
  const key = { namespace: "default", name: "night" };
  const { metadata } = await client.create(Queue, { metadata: key, spec: { limit: 2 } });
  const owner = { apiVersion: "example.com/v1", kind: "Queue", name: "night", uid: metadata.uid ?? "" };
  world.plane.node.on("short-*", { kind: "succeed", after: "1m" });
  world.plane.node.on("long-*", "run");
  for (const name of ["short", "long"])
    await client.create(Job, {
      metadata: { namespace: "default", name, ownerReferences: [owner] },
      spec: {
        template: { spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] } },
      },
    });
  await world.advance("10s");
  expect((await client.get(Queue, key)).status).toMatchObject({ jobs: 2, full: true });
  await world.advance("5m");
  expect((await client.get(Queue, key)).status).toMatchObject({ jobs: 1, pods: 1, full: false });
});
