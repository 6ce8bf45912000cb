import { manager } from "@windlass/runtime";
import { Deployment, Job } from "@windlass/runtime/kinds";
import { Simulation, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Release, release } from "./release.ts";

test("the servers of an image start once its migration has succeeded", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const { client, clock } = world;
  const migrations = world.plane.node.on("shop-migration-*", { kind: "succeed", after: "1m" });
  await world.install(Release);
  await world.run("release", (options) => manager(options).add(release));
  const key = { namespace: "default", name: "shop" };
  await client.create(Release, { metadata: key, spec: { image: "shop:1" } });
  await world.advance("30s");
  expect((await client.list(Deployment)).items).toEqual([]);
  await world.until(waitForCondition(client, Release, key, "Ready", "True", { clock, timeout: "5m" }));
  const job = await client.get(Job, { ...key, name: "shop-migration" });
  expect(job.status?.succeeded).toBe(1);

  migrations();
  world.plane.node.on("shop-migration-*", "fail");
  await client.patch(Release, key, { type: "merge", patch: { spec: { image: "shop:2" } } });
  await world.until(
    waitFor(client, Job, job.metadata, ({ status }) => (status?.failed ?? 0) > 0, { clock, timeout: "5m" }),
  );
  const { spec } = await client.get(Deployment, key);
  expect(spec.template.spec?.containers[0]?.image).toBe("shop:1");
});
