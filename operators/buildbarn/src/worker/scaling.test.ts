import { expect, test } from "vitest";
import { type PodSeen, type ScalingRules, type ScalingSeen, scalingPlan } from "./scaling.ts";

const now = 1_000_000;
const rules: ScalingRules = {
  by: "queue",
  min: 0,
  max: 10,
  concurrency: 8,
  delayMs: 60_000,
  drainMs: 7_500_000,
  noticeMs: 2_000,
};
const pod = (name: string, own: Partial<PodSeen> = {}): PodSeen => ({
  name,
  isTerminating: false,
  isReady: true,
  markedAt: undefined,
  firstAt: undefined,
  releasedAt: undefined,
  executing: 0,
  isDrained: false,
  ...own,
});
const seen = (own: Partial<ScalingSeen>): ScalingSeen => ({
  now,
  replicas: own.pods?.length ?? 0,
  isRollingOut: false,
  pods: [],
  queue: { is: "known", queued: 0 },
  ...own,
});
const lower = { lowerSince: now - 60_000, most: 0 };

test("a backlog of 40 with 8 actions a pod needs 5 pods, at once", () => {
  expect(scalingPlan(undefined, seen({ queue: { is: "known", queued: 40 } }), rules).replicas).toBe(5);
});

test("what runs needs its pods, and what stops needs none", () => {
  const pods = [pod("a", { executing: 8 }), pod("b", { executing: 8, isTerminating: true })];
  const plan = scalingPlan(undefined, seen({ pods, replicas: 1, queue: { is: "known", queued: 1 } }), rules);
  expect(plan.replicas).toBe(2);
});

test("a pod goes in steps: drained, then first in line, then one fewer", () => {
  const step = (own: Partial<PodSeen>) =>
    scalingPlan(lower, seen({ pods: [pod("a", { executing: 1 }), pod("b", own)] }), { ...rules, min: 1 });
  expect(step({})).toMatchObject({ replicas: 2, mark: ["b"], first: [] });
  // It was given an action before the drain reached the scheduler.
  expect(step({ markedAt: now, isDrained: true, executing: 1 })).toMatchObject({ replicas: 2, first: [] });
  expect(step({ markedAt: now, isDrained: true })).toMatchObject({ replicas: 2, first: ["b"] });
  expect(step({ markedAt: now, isDrained: true, firstAt: now - 1_000 })).toMatchObject({ replicas: 2 });
  expect(step({ markedAt: now, isDrained: true, firstAt: now - 2_000 })).toMatchObject({ replicas: 1 });
});

test("a drain that the scheduler has forgotten, as it was restarted, is made again", () => {
  const pods = [pod("a", { executing: 1 }), pod("b", { markedAt: now })];
  expect(scalingPlan(lower, seen({ pods }), { ...rules, min: 1 })).toMatchObject({
    replicas: 2,
    mark: ["b"],
  });
});

test("the time that a pod has to end its actions counts from the drain that the scheduler knows", () => {
  const byHand: ScalingRules = { by: "replicas", replicas: 0, drainMs: 60_000, noticeMs: 2_000 };
  const pods = [pod("a", { markedAt: now - 90_000, firstAt: now - 30_000, executing: 1 })];
  expect(scalingPlan(undefined, seen({ pods }), byHand)).toMatchObject({
    replicas: 1,
    mark: ["a"],
    notFirst: ["a"],
  });
});

test("no pod is deleted while a ReplicaSet may take another one for marked", () => {
  const idle = { markedAt: now - 9_000, isDrained: true, firstAt: now - 5_000 };
  const busy = { markedAt: now - 1_000, isDrained: true, executing: 1 };
  const replicas = (releasedAt: number) =>
    scalingPlan(lower, seen({ pods: [pod("a", idle), pod("b", { ...busy, releasedAt })] }), rules).replicas;
  expect(replicas(now - 1_000)).toBe(2);
  expect(replicas(now - 2_000)).toBe(1);
});

test("a pod that may be about to be deleted keeps its drain, though one fewer is to go", () => {
  const idle = { markedAt: now - 9_000, isDrained: true, firstAt: now - 5_000 };
  const byHand: ScalingRules = { by: "replicas", replicas: 1, drainMs: 60_000, noticeMs: 2_000 };
  const both = { pods: [pod("a", idle), pod("b", idle)], replicas: 1 };
  expect(scalingPlan(undefined, seen(both), byHand).unmark).toEqual([]);
  expect(scalingPlan(undefined, seen({ ...both, replicas: 2 }), { ...byHand, replicas: 2 }).unmark).toEqual([
    "a",
    "b",
  ]);
});

test("a busy pod that is not ready holds it up: a ReplicaSet would delete it before those that are marked", () => {
  const idle = { markedAt: now, isDrained: true, firstAt: now - 5_000 };
  const pods = [pod("a", idle), pod("b", { isReady: false, executing: 1 }), pod("c", { executing: 1 })];
  expect(scalingPlan(lower, seen({ pods }), rules).replicas).toBe(3);
});

test("a pod that does not become idle in its time goes none the less", () => {
  const pods = [pod("a", { markedAt: now - 7_500_000, firstAt: now - 5_000, isDrained: true, executing: 1 })];
  const byHand: ScalingRules = { by: "replicas", replicas: 0, drainMs: 7_500_000, noticeMs: 2_000 };
  expect(scalingPlan(undefined, seen({ pods }), byHand).replicas).toBe(0);
});

test("fewer pods only after they would have done for a while, and then as many as were needed at most", () => {
  const pods = ["a", "b", "c", "d"].map((name) => pod(name));
  const queued = (count: number) => seen({ pods, queue: { is: "known", queued: count } });
  const first = scalingPlan(undefined, queued(1), rules);
  expect(first).toMatchObject({ replicas: 4, mark: [], until: now + 60_000, state: { most: 1 } });
  const second = scalingPlan(first.state, { ...queued(17), now: now + 59_000 }, rules);
  expect(second).toMatchObject({ replicas: 4, mark: [], state: { lowerSince: now, most: 3 } });
  const third = scalingPlan(second.state, { ...queued(0), now: now + 60_000 }, rules);
  expect(third).toMatchObject({ desired: 3, mark: ["a"] });
  // More than there are: it starts over.
  expect(scalingPlan(second.state, queued(33), rules)).toMatchObject({ replicas: 5, state: undefined });
});

test.for([
  ["does not answer", { is: "unknown" }, 3],
  ["does not know the queue", { is: "missing" }, 3],
] as const)("where the scheduler %s, pods stay", ([, queue, replicas]) => {
  const pods = ["a", "b", "c"].map((name) => pod(name));
  expect(scalingPlan(lower, seen({ pods, queue }), rules)).toMatchObject({ replicas, mark: [] });
});

test("while pods are replaced the queue removes none: the Deployment decides which ones are deleted then", () => {
  const pods = [pod("a", { markedAt: now, isDrained: true, firstAt: now - 5_000 })];
  expect(scalingPlan(lower, seen({ pods, isRollingOut: true }), rules).replicas).toBe(1);
});

test("pods that are yet to be made go without a trace", () => {
  const byHand: ScalingRules = { by: "replicas", replicas: 2, drainMs: 1, noticeMs: 1 };
  const plan = scalingPlan(undefined, seen({ pods: [pod("a"), pod("b")], replicas: 8 }), byHand);
  expect(plan).toMatchObject({ replicas: 2, mark: [] });
});

test("a pod that its ReplicaSet has yet to delete is not counted twice", () => {
  const idle = { markedAt: now - 9_000, isDrained: true };
  const pods = [
    pod("a", { ...idle, firstAt: now - 100 }),
    pod("b", { ...idle, firstAt: now - 5_000 }),
    pod("c", { executing: 1 }),
  ];
  const byHand: ScalingRules = { by: "replicas", replicas: 1, drainMs: 7_500_000, noticeMs: 2_000 };
  // The number was lowered for b: a, whose mark is not known to all yet, has to wait.
  expect(scalingPlan(undefined, seen({ pods, replicas: 2 }), byHand).replicas).toBe(2);
});
