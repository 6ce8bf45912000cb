import { expect, test } from "vitest";
import { arrangementOf, type Observation, type Stage, step } from "./stage.ts";

const patience = { settleMs: 5_000, proofMs: 30_000, reprieveMs: 10_000 };
const pod = { uid: "a", isReady: true, isTerminating: false };

function next(stage: Stage, seen: Partial<Observation> = {}) {
  const move = step(
    stage,
    {
      elapsedMs: 60_000,
      restsAt: "Serving",
      wish: "sleep",
      hasDemand: false,
      replicas: 1,
      pods: [pod],
      resolver: "ready",
      haveSlicesFollowed: true,
      isProven: true,
      ...seen,
    },
    patience,
  );
  return move && { ...move.stage, cause: move.cause };
}

const fallingAsleep: readonly Stage[] = [
  { at: "Joining" },
  { at: "Diverting" },
  { at: "Relaying" },
  { at: "Holding", retired: ["a"] },
];

test("a service goes round: asleep when idle, awake when asked for", () => {
  const names: string[] = [];
  let stage: Stage = { at: "Serving" };
  const seen = [{}, {}, {}, {}, {}, { replicas: 0 }, { replicas: 0, pods: [] }];
  for (const each of seen) {
    stage = next(stage, each) as Stage;
    names.push(stage.at);
  }
  expect(names).toEqual([
    "Joining",
    "Diverting",
    "Relaying",
    "Holding",
    "ScalingDown",
    "Terminating",
    "Asleep",
  ]);
  expect(next(stage, { replicas: 0, pods: [], hasDemand: true })).toEqual({
    at: "Waking",
    for: "requests",
    retired: [],
    cause: "RequestArrived",
  });
  expect(next({ at: "Waking", for: "requests", retired: [] })).toMatchObject({ at: "Returning" });
  expect(next({ at: "Returning" })).toEqual({ at: "Serving", cause: "PodsServe" });
});

test.for(fallingAsleep)("a request while $at takes the sleep back", (stage) => {
  expect(next(stage, { hasDemand: true })).toEqual({ at: "Returning", cause: "RequestArrived" });
  expect(next(stage, { wish: "stay" })).toEqual({ at: "Returning", cause: "SleepNotWanted" });
});

test.for(fallingAsleep)("without a resolver the pods come back from $at", (stage) => {
  const gone = { at: "Returning", cause: "ResolverUnavailable" };
  expect(next(stage, { resolver: "restarting" })).toEqual(gone);
  expect(next(stage, { resolver: "restarting", restsAt: "Relaying" })).toEqual(gone);
});

test.for([{ at: "Joining" }, { at: "Diverting" }, { at: "Holding", retired: ["a"] }] as const)(
  "$at goes on with its proof alone, and is given up in the end",
  (stage) => {
    expect(next(stage, { isProven: false, elapsedMs: 29_000 })).toBeUndefined();
    expect(next(stage, { isProven: false })).toEqual({ at: "Returning", cause: "ProofTimedOut" });
  },
);

test("a request before the scale is written keeps the target up", () => {
  expect(next({ at: "ScalingDown", retired: ["a"] }, { hasDemand: true })).toMatchObject({ at: "Waking" });
});

test("a pod that was asked to stop stays out of the Service until it is seen to end, or runs on", () => {
  const stage = { at: "Waking", for: "requests", retired: ["a"] } as const;
  expect(arrangementOf(stage, "Serving").podsInService).toBe(false);
  const pods = [pod, { ...pod, uid: "b" }];
  expect(next(stage, { elapsedMs: 0, pods })).toBeUndefined();
  const ending = [
    { ...pod, isTerminating: true },
    { ...pod, uid: "b" },
  ];
  expect(next(stage, { elapsedMs: 0, pods: ending })).toMatchObject({ at: "Waking", retired: [] });
  expect(next(stage, { pods })).toMatchObject({ at: "Waking", retired: [] });
});

test("no service sleeps while there is no resolver that could wake them", () => {
  const asleep = { replicas: 0, pods: [] };
  expect(next({ at: "Asleep" }, { ...asleep, resolver: "restarting" })).toBeUndefined();
  expect(next({ at: "Asleep" }, { ...asleep, resolver: "absent" })).toMatchObject({
    at: "Waking",
    cause: "ResolverUnavailable",
  });
  expect(next({ at: "Serving" }, { resolver: "restarting" })).toBeUndefined();
});

test("a target that others scale is followed, not fought", () => {
  expect(next({ at: "Serving" }, { replicas: 0 })).toMatchObject({ at: "Terminating", retired: ["a"] });
  expect(next({ at: "Asleep" })).toEqual({
    at: "Waking",
    for: "readiness",
    retired: [],
    cause: "ScaledByOthers",
  });
  expect(next({ at: "Waking", for: "readiness", retired: [] }, { replicas: 0, pods: [] })).toMatchObject({
    at: "Terminating",
  });
});

test("pods that are not ready have the resolver hold requests, without a change of scale", () => {
  const move = next({ at: "Serving" }, { pods: [{ ...pod, isReady: false }] });
  expect(move).toMatchObject({ at: "Waking", for: "readiness" });
  expect(arrangementOf(move as Stage, "Serving")).toMatchObject({ resolverInService: true, scale: "leave" });
});

test("a service that rests behind the resolver goes there whatever is asked, and sleeps from there", () => {
  const rest = { restsAt: "Relaying", wish: "stay" } as const;
  expect(next({ at: "Serving" }, rest)).toMatchObject({ at: "Joining" });
  expect(next({ at: "Joining" }, rest)).toMatchObject({ at: "Diverting" });
  expect(next({ at: "Diverting" }, rest)).toMatchObject({ at: "Relaying" });
  expect(next({ at: "Relaying" }, rest)).toBeUndefined();
  expect(next({ at: "Relaying" }, { ...rest, wish: "sleep" })).toMatchObject({ at: "Holding" });
  expect(next({ at: "Holding", retired: [] }, { ...rest, wish: "sleep", hasDemand: true })).toMatchObject({
    at: "Relaying",
  });
  expect(next({ at: "Waking", for: "requests", retired: [] }, rest)).toMatchObject({ at: "Relaying" });
});

test("the resolver leaves the Service once a pod answers through it, or after a while once the pods are in the Service", () => {
  expect(next({ at: "Returning" }, { elapsedMs: 0 })).toEqual({ at: "Serving", cause: "PodsServe" });
  const unproven = { isProven: false, wish: "stay" } as const;
  expect(next({ at: "Returning" }, { ...unproven, elapsedMs: 29_999 })).toBeUndefined();
  expect(next({ at: "Returning" }, { ...unproven, haveSlicesFollowed: false })).toBeUndefined();
  expect(next({ at: "Returning" }, unproven)).toEqual({ at: "Serving", cause: "ProofTimedOut" });
});
