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
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";
import { RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/** The phases of a change of shards. One may be over before it is seen. */
const phases = ["Starting", "Bridging", "Redirecting", "Copying", "Switching", "Retiring", "Stable"];

/** Long enough to use everything once, on a slow machine too. */
const holdSeconds = 30;

describe.each(versions)("Buildbarn of %s", (version) => {
  let world: LabTestEnvironment;
  const specs = labSpecs(version);

  beforeAll(async () => {
    world = await labTestEnvironment(`buildbarn-${version}`);
  }, 300_000);
  afterAll(() => world?.close());

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

  test("2 to 3 shards and back lose nothing that is used and fail no build, with the operator killed at every step", async () => {
    const { cluster, namespace, replica } = world;
    const { client } = cluster;
    const key = { namespace, name: "storage" };
    const builds = new Builds(client, namespace);
    const used = Array.from({ length: 60 }, (_, number) => `action ${number}`);
    await builds.fill(used);
    const stop = new AbortController();
    const going = builds.keepOn(used, stop.signal);
    for (const shards of [3, 2]) {
      // These are not requested until the change is over.
      const unused = Array.from({ length: 30 }, (_, number) => `unused before ${shards}: ${number}`);
      await builds.fill(unused);
      const patch = { spec: { replicas: shards, resharding: { hold: `${holdSeconds}s` } } };
      await client.patch(BuildbarnStorage, key, { type: "merge", patch });
      const began = new Map<string, number>();
      for (const phase of phases) {
        const seen = await waitFor(
          client,
          BuildbarnStorage,
          key,
          ({ status }) =>
            status?.resharding?.to === shards &&
            phases.indexOf(status.resharding.phase) >= phases.indexOf(phase) &&
            status.resharding,
          { timeout: 60_000 },
        );
        began.set(seen.phase, Date.parse(seen.since));
        replica.kill();
        await replica.start();
        if (phase !== "Copying") continue;
        // Once is enough. Nothing is done to the hold: all of it must fit in.
        expect(await builds.misses(used)).toEqual([]);
        const { status } = await client.get(BuildbarnStorage, key);
        expect(status?.resharding?.phase).toBe("Copying");
      }
      await waitForCondition(client, BuildbarnStorage, key, "Ready", "True", { timeout: 40_000 });
      const { items } = await client.list(Pod, { namespace, labelSelector: "app=storage" });
      expect(items).toHaveLength(shards);
      const held = (began.get("Switching") ?? 0) - (began.get("Copying") ?? 0);
      // Both are in whole seconds.
      expect(held).toBeGreaterThanOrEqual(holdSeconds * 1_000 - 1_000);
      expect(await builds.misses(used)).toEqual([]);
      const lost = (await builds.misses(unused)).length;
      process.stdout.write(
        `${version}, to ${shards} shards: of ${unused.length} unused results, ${lost} were lost; ${builds.repeated.length} of ${builds.done} new actions ran twice\n`,
      );
      // It is the hold that keeps the others.
      expect(lost).toBeGreaterThan(0);
    }
    stop.abort();
    await going;
    expect(builds.failures).toEqual([]);
    // What one client has written, all others find, whichever map they have.
    expect(builds.repeated).toEqual([]);
    expect(builds.done).toBeGreaterThan(100);
  }, 300_000);
});
