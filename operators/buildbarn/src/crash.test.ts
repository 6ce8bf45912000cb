import { PersistentVolumeClaim, StatefulSet } from "@windlass/runtime/kinds";
import { type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fate } from "../testing/mortal-transport.ts";
import { concurrency, ShortLives, startShortLivedCluster } from "../testing/short-lives.ts";
import { everyPod } from "../testing/stand-in-scheduler.ts";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  shardMapAnnotation,
} from "./index.ts";
import { parseLayout, rings, shardsOf } from "./resharding/index.ts";

/**
 * The operator is killed before or after each of its writes, and lives for no more than two of
 * them. The outcome must be that of one that lives on.
 *
 * One that died of every first write before it gets its answer would mark the same worker for ever:
 * the time of a drain begins with its mark, so the mark comes first, and is written again until the
 * drain has followed.
 */
const fates: readonly Fate[] = [
  { writes: 1, dies: "before a write" },
  { writes: 2, dies: "after a write" },
];

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startShortLivedCluster();
}, 60_000);
afterAll(() => cluster.close());

const mapOf = async (own: ShortLives, client: string) =>
  (await own.template(client))?.metadata?.annotations?.[shardMapAnnotation] ?? "";
const layoutOf = (text: string) => ({ phase: "Stable", at: parseLayout(text) ?? { shards: 99 } }) as const;

describe.each(fates)("an operator that dies $dies", { timeout: 240_000 }, (fate) => {
  test("moves shards, and no client knows of one that does not run", async () => {
    await using own = await ShortLives.start(cluster);
    const scheduler = await own.template("scheduler");
    const maps = new Set<string>();
    const look = async () => {
      const counts = await own.shards();
      for (const client of ["frontend", "worker"]) {
        const map = await mapOf(own, client);
        maps.add(map);
        for (const layout of map.split(/[-+]/)) {
          const needed = shardsOf(layoutOf(layout));
          for (const ring of rings) expect(needed[ring], map).toBeLessThanOrEqual(counts[ring]);
        }
      }
    };
    for (const [change, layout] of [
      [{ replicas: 3, weights: [1, 3], mirrored: true }, "3w1.3m"],
      [{ replicas: 2, weights: null, mirrored: false }, "2"],
    ] as const) {
      await own.patch(BuildbarnStorage, "storage", change);
      await own.liveUntil(fate, own.storageHas(layout), look);
      await own.settle(async () => (await mapOf(own, "worker")) === layout);
      expect(await own.shards()).toEqual(shardsOf(layoutOf(layout)));
    }
    expect([...maps].toSorted()).toEqual(["2", "2+3w1.3m", "2-3w1.3m", "3w1.3m", "3w1.3m+2", "3w1.3m-2"]);
    // The scheduler reads through the frontend: a change of shards is not its business.
    expect(await own.template("scheduler")).toEqual(scheduler);
    expect(own.ends.length).toBeGreaterThan(15);
  });

  test("stops workers, and ends no action", async () => {
    await using own = await ShortLives.start(cluster);
    own.scheduler.enqueue(3 * concurrency);
    const [idle = "", first = ""] = own.scheduler.pods();
    own.scheduler.complete(idle);
    await own.client.patch(
      BuildbarnWorker,
      own.key("worker"),
      { type: "merge", patch: { spec: { replicas: 0 } } },
      { subresource: "scale" },
    );
    const look = () => {
      expect(own.scheduler.killed).toEqual([]);
      expect([...own.pods.disturbed]).toEqual([]);
    };
    await own.liveUntil(fate, own.workersAre(2), look);
    // It gets nothing new.
    own.scheduler.enqueue(concurrency);
    own.scheduler.complete(first);
    await own.liveUntil(fate, own.workersAre(1), look);
    for (const pod of own.scheduler.pods()) own.scheduler.complete(pod);
    const gone = async () => {
      await own.workersAre(0);
      await own.until(() => own.scheduler.pods().length === 0);
    };
    await own.liveUntil(fate, gone(), look);
    await own.settle(() => own.scheduler.drains.size === 0);
    expect(own.scheduler.queued).toBe(concurrency);
    look();
    expect(own.ends.length).toBeGreaterThan(3);
  });

  test("restarts a scheduler once its workers are idle", async () => {
    await using own = await ShortLives.start(cluster);
    const before = await own.template("scheduler");
    own.scheduler.enqueue(1);
    const busy = own.scheduler.pods().find((pod) => own.scheduler.executing(pod) > 0) ?? "";
    // Another platform is another queue.
    const another = [{ name: "OSFamily", value: "windows" }];
    await own.create(BuildbarnWorker, "another", { platform: another, replicas: 0 });
    const look = async () => {
      if (own.scheduler.executing(busy) > 0) expect(await own.template("scheduler")).toEqual(before);
    };
    const drained = waitFor(
      own.client,
      BuildbarnScheduler,
      own.key("scheduler"),
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "DrainingWorkers"),
      { timeout: 60_000 },
    );
    await own.liveUntil(fate, drained, look);
    await own.settleDrain(everyPod);
    await look();
    own.scheduler.complete(busy);
    const restarted = own.until(
      async () => JSON.stringify(await own.template("scheduler")) !== JSON.stringify(before),
    );
    await own.liveUntil(fate, restarted, look);
    await own.settle(() => own.scheduler.drains.size === 0);
    expect(own.scheduler.killed).toEqual([]);
    expect(own.ends.length).toBeGreaterThan(1);
  });

  test("has volumes grow, and pods run on", async () => {
    await using own = await ShortLives.start(cluster);
    const before = await own.podsOf("storage");
    const { metadata } = await own.client.get(StatefulSet, own.key("storage"));
    await own.patch(BuildbarnStorage, "storage", { ac: { volume: { size: "2Gi" } } });
    const replaced = waitFor(
      own.client,
      StatefulSet,
      own.key("storage"),
      (found) => found.metadata.uid !== metadata.uid,
      { timeout: 60_000 },
    );
    await own.liveUntil(fate, replaced, async () => expect(await own.podsOf("storage")).toEqual(before));
    await own.settle();
    expect(await own.podsOf("storage")).toEqual(before);
    const { items } = await own.client.list(PersistentVolumeClaim, { namespace: own.namespace });
    const sizes = items.map((one) => `${one.metadata.name} ${one.spec?.resources?.requests?.storage}`);
    expect(sizes.toSorted()).toEqual([
      "ac-storage-0 2Gi",
      "ac-storage-1 2Gi",
      "cas-storage-0 33Gi",
      "cas-storage-1 33Gi",
    ]);
    expect(own.ends.length).toBeGreaterThan(0);
  });

  test("deletes a set, and workers end their actions first", async () => {
    await using own = await ShortLives.start(cluster);
    const set = [
      [BuildbarnWorker, "worker"],
      [BuildbarnStorage, "storage"],
      [BuildbarnScheduler, "scheduler"],
      [BuildbarnFrontend, "frontend"],
    ] as const;
    for (const [kind, name] of set) await own.client.delete(kind, own.key(name));
    const gone = Promise.all(
      set.map(([kind, name]) => waitForDeletion(own.client, kind, own.key(name), { timeout: 60_000 })),
    );
    const needed = ["storage", "scheduler", "frontend"];
    const look = async () => {
      const counts = await Promise.all(needed.map(async (name) => (await own.podsOf(name)).length));
      // They may go in the moment in which the last worker does.
      if ((await own.podsOf("worker")).length > 0) expect(counts).toEqual([2, 1, 1]);
    };
    await own.liveUntil(fate, gone, look);
    for (const name of [...needed, "worker"]) expect(await own.podsOf(name)).toEqual([]);
    expect(own.ends.length).toBeGreaterThan(4);
  });
});
