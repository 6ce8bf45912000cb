import { Deployment, StatefulSet } from "@windlass/runtime/kinds";
import { describe, expect, test } from "vitest";
import { BuildbarnScheduler } from "../scheduler/scheduler.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { afterWorkers, stopPods } from "./stop-pods.ts";

const start = Date.parse("2026-11-19T12:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
const set = { cluster: "builds" };
const namespace = "default";

/** What a scheduler that is deleted at the start waits for, some seconds later. */
function waits(
  seconds: number,
  workers: readonly { readonly name: string; readonly deleted?: number; readonly cluster?: string }[],
  finalizers: readonly string[] = [],
) {
  const scheduler = BuildbarnScheduler.make({ namespace, name: "scheduler" }, set);
  const objects = workers.map(({ name, deleted, cluster = "builds" }) => {
    const made = BuildbarnWorker.make({ namespace, name }, { cluster, terminationGracePeriodSeconds: 600 });
    return deleted === undefined
      ? made
      : { ...made, metadata: { ...made.metadata, deletionTimestamp: at(deleted) } };
  });
  const answer = afterWorkers(
    { ...scheduler, metadata: { ...scheduler.metadata, deletionTimestamp: at(0), finalizers } },
    objects,
    start + seconds * 1_000,
  );
  return answer && [answer.status.conditions[0]?.message, answer.requeueAfter];
}

const named = (name: string) => `workers of the set end their actions first: ${name}`;

describe("a scheduler that is deleted", () => {
  test("waits for workers that are deleted too, and names them", () => {
    const workers = [{ name: "b", deleted: 1 }, { name: "a", deleted: 1 }, { name: "c" }];
    expect(waits(2, workers)).toEqual([named("a, b"), 30_000]);
  });

  test("waits no longer than their pods may take, and two minutes", () => {
    const workers = [{ name: "a", deleted: 1 }];
    expect(waits(715, workers)).toEqual([named("a"), 6_000]);
    expect(waits(721, workers)).toBeUndefined();
  });

  test("waits a moment for the deletion of workers that stay", () => {
    const workers = [{ name: "a" }];
    expect(waits(2, workers)).toEqual(["workers of the set may be deleted too", 3_000]);
    expect(waits(5, workers)).toBeUndefined();
  });

  test("does not wait for workers of another set, for none, or to leave its own pods in place", () => {
    expect(waits(1, [{ name: "a", deleted: 0, cluster: "other" }])).toBeUndefined();
    expect(waits(1, [])).toBeUndefined();
    expect(waits(1, [{ name: "a", deleted: 0 }], ["orphan"])).toBeUndefined();
  });
});

describe("pods that stop", () => {
  const warnings: string[] = [];
  const deleted: string[] = [];
  /** What is waited for some seconds after the workload was deleted. */
  async function waitsForPods(
    seconds: number,
    {
      kind = Deployment,
      graceSeconds,
      lostNodeMs,
      ...own
    }: {
      readonly kind?: typeof Deployment | typeof StatefulSet;
      readonly graceSeconds?: number;
      readonly deletionTimestamp?: string | undefined;
      readonly lostNodeMs?: number;
    },
  ) {
    const scheduler = BuildbarnScheduler.make({ namespace, name: "scheduler" }, set);
    const spec = { template: { spec: { containers: [], terminationGracePeriodSeconds: graceSeconds } } };
    const deletionTimestamp = "deletionTimestamp" in own ? own.deletionTimestamp : at(0);
    const workload = { metadata: { name: "scheduler", namespace, deletionTimestamp }, spec };
    const context = {
      key: { namespace, name: "scheduler" },
      clock: { now: () => start + seconds * 1_000 },
      owned: () => workload,
      delete: async (_: unknown, object: typeof workload) => {
        deleted.push(object.metadata.name);
      },
      events: { warning: (reason: string, message: string) => warnings.push(`${reason}: ${message}`) },
    };
    const answer = await stopPods(scheduler, context as unknown as Parameters<typeof stopPods>[1], {
      kind,
      ...(lostNodeMs !== undefined && { lostNodeMs }),
    });
    return answer?.requeueAfter;
  }

  test("are waited for as long as they may take, and two minutes: then their node may be gone", async () => {
    expect(await waitsForPods(1, {})).toBe(30_000);
    expect(await waitsForPods(149, {})).toBe(1_000);
    expect(warnings).toEqual([]);
    expect(await waitsForPods(150, {})).toBeUndefined();
    expect(warnings).toEqual([
      "PodsLost: pods of Deployment scheduler did not stop in their time, and are waited for no longer",
    ]);
    expect(await waitsForPods(301, { kind: StatefulSet, graceSeconds: 300 })).toBe(30_000);
    expect(await waitsForPods(420, { kind: StatefulSet, graceSeconds: 300 })).toBeUndefined();
    expect(await waitsForPods(31, { lostNodeMs: 500 })).toBeUndefined();
  });

  test("are terminated first, and their time begins then", async () => {
    expect(await waitsForPods(10_000, { deletionTimestamp: undefined })).toBe(30_000);
    expect(deleted).toEqual(["scheduler"]);
  });
});
