import { Pod } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  versions,
} from "../../operators/buildbarn/src/index.ts";
import { Builds } from "../../operators/buildbarn/testing/builds.ts";
import { type LabWorld, labSpecs, labWorld } from "../../operators/buildbarn/testing/lab-world.ts";
import { RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/** The phases of a change of shards. One may be over before it is seen. */
const phases = ["Starting", "Bridging", "Copying", "Switching", "Retiring", "Stable"];

describe.each(versions)("Buildbarn of %s", (version) => {
  let world: LabWorld;
  const specs = labSpecs(version);

  beforeAll(async () => {
    world = await labWorld(`buildbarn-${version}`);
  });
  afterAll(() => world.close());

  test("storage, frontend and scheduler come up healthy from their resources", async () => {
    const { cluster, namespace } = world;
    const { client } = cluster;
    await client.create(BuildbarnStorage, { metadata: { namespace, name: "storage" }, spec: specs.storage });
    await client.create(BuildbarnFrontend, {
      metadata: { namespace, name: "frontend" },
      spec: specs.frontend,
    });
    await client.create(BuildbarnScheduler, {
      metadata: { namespace, name: "scheduler" },
      spec: specs.scheduler,
    });
    const wait = { timeout: 40_000 };
    await waitForCondition(client, BuildbarnStorage, { namespace, name: "storage" }, "Ready", "True", wait);
    await waitForCondition(client, BuildbarnFrontend, { namespace, name: "frontend" }, "Ready", "True", wait);
    await waitForCondition(
      client,
      BuildbarnScheduler,
      { namespace, name: "scheduler" },
      "Ready",
      "True",
      wait,
    );
    const { items } = await client.list(Pod, { namespace, labelSelector: "app=frontend" });
    const [first, second] = items.map(({ status }) => status?.podIP ?? "");
    using writer = new RemoteCache(`${first}:8980`);
    using reader = new RemoteCache(`${second}:8980`);
    await writer.write("compile");
    expect(await reader.read("compile")).toBe("hit");
    expect(await reader.read("link")).toBe("miss");
  });

  test("2 to 3 shards and back lose no hit and fail no build, with the operator killed at every step", async () => {
    const { cluster, namespace, replica } = world;
    const { client } = cluster;
    const key = { namespace, name: "storage" };
    const builds = new Builds(client, namespace);
    const actions = Array.from({ length: 90 }, (_, number) => `action ${number}`);
    await builds.fill(actions);
    expect(builds.repeated).toEqual([]);
    const stop = new AbortController();
    const going = builds.keepOn(actions, stop.signal);
    const patch = (spec: object) => client.patch(BuildbarnStorage, key, { type: "merge", patch: { spec } });
    for (const shards of [3, 2]) {
      await patch({ replicas: shards, resharding: { hold: "10m" } });
      for (const phase of phases) {
        await waitFor(
          client,
          BuildbarnStorage,
          key,
          ({ status }) =>
            status?.resharding?.to === shards &&
            phases.indexOf(status.resharding.phase) >= phases.indexOf(phase),
          { timeout: 60_000 },
        );
        replica.kill();
        await replica.start();
        if (phase !== "Copying") continue;
        // What is used in this phase is copied. It ends when all of it was. All clients have both maps: nothing is hidden.
        const repeated = builds.repeated.length;
        expect(await builds.misses(actions)).toEqual([]);
        expect(builds.repeated).toHaveLength(repeated);
        await patch({ resharding: { hold: "1s" } });
      }
      await waitForCondition(client, BuildbarnStorage, key, "Ready", "True", { timeout: 40_000 });
      const { items } = await client.list(Pod, { namespace, labelSelector: "app=storage" });
      expect(items).toHaveLength(shards);
      expect(await builds.misses(actions)).toEqual([]);
    }
    stop.abort();
    await going;
    expect(builds.failures).toEqual([]);
    expect(builds.done).toBeGreaterThan(100);
  }, 300_000);
});
