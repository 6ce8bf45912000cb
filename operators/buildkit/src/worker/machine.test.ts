import { describe, expect, test } from "vitest";
import { mustAsk, type WorkerRules, type WorkerSeen, type WorkerState, workerStep } from "./machine.ts";

const rules: WorkerRules = {
  provisionMs: 600_000,
  drainMs: 3_600_000,
  silenceMs: 300_000,
  isReused: true,
  unusedMs: Number.POSITIVE_INFINITY,
  askMs: 5_000,
  askDrainingMs: 2_000,
};
const ready = { is: "ready", ip: "10.0.0.1", node: "a" } as const;
const unready = { is: "unready", ip: "10.0.0.1", node: "a" } as const;
const known = (count: number) => ({ is: "known", count }) as const;
const seen = (own: Partial<WorkerSeen>): WorkerSeen => ({
  now: 1_000_000,
  isDeleted: false,
  claim: undefined,
  pod: ready,
  builds: { is: "unasked" },
  ...own,
});
const claim = { expiresAt: 2_000_000, activeAt: 1_000_000 };
const expired = { expiresAt: 900_000, activeAt: 100_000 };
const step = (state: WorkerState, own: Partial<WorkerSeen>, other: Partial<WorkerRules> = {}) =>
  workerStep(state, seen(own), { ...rules, ...other });

describe("starting", () => {
  test("a new worker gets a pod", () => {
    expect(step({ at: "pending" }, { pod: { is: "absent" } })).toEqual({
      state: { at: "provisioning", since: 1_000_000 },
      action: { do: "make-pod" },
    });
  });

  test("a pod that finds no node is waited for, and the time runs on", () => {
    const problem = { reason: "Unschedulable", message: "no node", isFinal: false };
    const pod = { is: "starting", problem } as const;
    const state = { at: "provisioning", since: 400_001 } as const;
    expect(step(state, { pod })).toEqual({ state, action: { do: "wait", until: 1_000_001 } });
    expect(step({ ...state, since: 400_000 }, { pod }).state).toMatchObject({
      at: "failed",
      reason: "ProvisionTimeout",
      message: expect.stringContaining("no node"),
    });
  });

  test("an image that cannot be pulled fails the worker at once", () => {
    const problem = { reason: "ImagePullFailed", message: "no such image", isFinal: true };
    const { state } = step({ at: "provisioning", since: 999_000 }, { pod: { is: "starting", problem } });
    expect(state).toMatchObject({ at: "failed", reason: "ImagePullFailed", message: "no such image" });
  });

  test("a worker is idle when its pod is ready, and allocated at once if it was claimed meanwhile", () => {
    expect(step({ at: "provisioning", since: 0 }, {}).state).toEqual({ at: "idle", since: 1_000_000 });
    const { state } = step({ at: "provisioning", since: 0 }, { claim, builds: known(0) });
    expect(state).toEqual({ at: "allocated" });
  });
});

describe("idle", () => {
  const idle = { at: "idle", since: 500_000 } as const;

  test("a worker is asked before anyone is given it, and now and then after that", () => {
    const at = (state: WorkerState, isDue: boolean, pod: WorkerSeen["pod"] = ready) =>
      mustAsk(state, { isDeleted: false, claim: undefined, pod }, isDue);
    expect(at({ at: "provisioning", since: 0 }, false)).toBe(true);
    expect(at(idle, false)).toBe(false);
    expect(at(idle, true)).toBe(true);
    expect(at(idle, true, unready)).toBe(false);
    expect(at({ at: "failed", since: 0, reason: "Error", message: "" }, true)).toBe(false);
  });

  test("one that listens and does not answer is unavailable until it does, and fails after its time", () => {
    const silent = step(idle, { builds: { is: "silent" } });
    expect(silent).toEqual({
      state: { at: "provisioning", since: 1_000_000 },
      action: { do: "wait", until: 1_005_000 },
    });
    expect(step(silent.state, { builds: known(0) }).state).toEqual({ at: "idle", since: 1_000_000 });
    expect(step({ at: "provisioning", since: 400_000 }, { builds: { is: "silent" } }).state).toMatchObject({
      at: "failed",
      reason: "ProvisionTimeout",
    });
  });

  test("one that builds without a claim is given to no client before that has ended", () => {
    const { state, action } = step(idle, { builds: known(1) });
    expect(state).toEqual({ at: "running", builds: 1 });
    expect(action).toEqual({ do: "wait", until: 1_002_000 });
    expect(step(state, { builds: known(0) }).state).toEqual({ at: "idle", since: 1_000_000 });
  });
});

describe("in use", () => {
  test("a claimed worker is allocated, and running while it builds", () => {
    expect(step({ at: "idle", since: 0 }, { claim, builds: known(0) }).state).toEqual({ at: "allocated" });
    expect(step({ at: "allocated" }, { claim, builds: known(2) }).state).toEqual({
      at: "running",
      builds: 2,
    });
    expect(step({ at: "running", builds: 2 }, { claim, builds: known(0) }).state).toEqual({
      at: "allocated",
    });
  });

  test("a claimed worker stays claimed, though it neither answers nor passes its probe", () => {
    const state = { at: "running", builds: 1, silentSince: 0 } as const;
    const { action, state: next } = step(state, { claim, pod: unready, builds: { is: "silent" } });
    expect(next).toEqual(state);
    expect(action.do).toBe("wait");
  });

  test("a worker whose daemon has ended has failed, with what it said", () => {
    const pod = { is: "ended", reason: "OOMKilled", message: "exit code 137" } as const;
    expect(step({ at: "running", builds: 1 }, { claim, pod }).state).toMatchObject({
      at: "failed",
      reason: "OOMKilled",
    });
  });

  test("a worker whose pod is gone has failed: its cache and its builds are gone too", () => {
    for (const state of [
      { at: "idle", since: 0 },
      { at: "allocated" },
      { at: "running", builds: 1 },
    ] as const)
      expect(step(state, { claim, pod: { is: "absent" } }).state).toMatchObject({
        at: "failed",
        reason: "PodLost",
      });
    const starting = { at: "provisioning", since: 999_000 } as const;
    expect(step(starting, { pod: { is: "absent" } })).toEqual({
      state: starting,
      action: { do: "make-pod" },
    });
  });

  test("a pod that is evicted may end its builds first", () => {
    const pod = { is: "stopping", ip: "10.0.0.1" } as const;
    expect(step({ at: "running", builds: 1 }, { claim, pod, builds: known(1) }).state).toMatchObject({
      at: "running",
      drainingSince: 1_000_000,
    });
    expect(step({ at: "running", builds: 1 }, { claim, pod, builds: known(0) }).state.at).toBe("failed");
  });
});

describe("the end of an allocation", () => {
  test("an allocation without a build is released early, where the pool says so", () => {
    const unused = { claim: { ...claim, activeAt: 400_000 }, builds: known(0) };
    const after = (unusedMs: number) => step({ at: "allocated" }, unused, { unusedMs }).action.do;
    expect(after(600_000)).toBe("release");
    expect(after(600_001)).toBe("wait");
    expect(after(Number.POSITIVE_INFINITY)).toBe("wait");
    const silent = { ...unused, builds: { is: "silent" } as const };
    expect(step({ at: "allocated" }, silent, { unusedMs: 1 }).action.do).toBe("wait");
    expect(step({ at: "allocated" }, { ...unused, builds: known(1) }, { unusedMs: 1 }).action.do).toBe(
      "wait",
    );
    expect(step({ at: "running", builds: 1 }, unused, { unusedMs: 1 }).action.do).toBe("wait");
  });

  test("a released worker is idle once its builds have ended", () => {
    expect(step({ at: "running", builds: 1 }, { builds: known(1) }).state).toMatchObject({ at: "running" });
    expect(step({ at: "running", builds: 1 }, { builds: known(0) })).toMatchObject({
      state: { at: "idle", since: 1_000_000 },
      action: { do: "wait" },
    });
  });

  test("a released worker is emptied first where the pool says so, and no client has it until then", () => {
    const { state, action } = step({ at: "allocated" }, { builds: known(0) }, { isPruned: true });
    expect(state.at).toBe("allocated");
    expect(action).toMatchObject({ do: "prune", next: { at: "idle" } });
    expect(step({ at: "running", builds: 1 }, { builds: known(1) }, { isPruned: true }).action.do).toBe(
      "wait",
    );
    expect(
      step({ at: "allocated" }, { builds: known(0) }, { isPruned: true, isReused: false }).action.do,
    ).toBe("delete-worker");
  });

  test("a released worker is deleted where workers are not used twice", () => {
    const { action } = step({ at: "allocated" }, { builds: known(0) }, { isReused: false });
    expect(action).toMatchObject({ do: "delete-worker" });
  });

  test("an expired worker goes, but not before its builds have ended", () => {
    expect(step({ at: "allocated" }, { claim: expired, builds: known(0) }).action.do).toBe("delete-worker");
    expect(step({ at: "running", builds: 1 }, { claim: expired, builds: known(1) })).toMatchObject({
      state: { at: "running", drainingSince: 900_000 },
      action: { do: "wait" },
    });
    const late = { claim: expired, builds: known(1), now: 900_000 + rules.drainMs };
    expect(step({ at: "running", builds: 1 }, late).action.do).toBe("delete-worker");
  });

  test("a released worker that does not answer is given up after a while", () => {
    const state = { at: "allocated", silentSince: 700_001 } as const;
    expect(step(state, { builds: { is: "silent" } }).action.do).toBe("wait");
    expect(step({ ...state, silentSince: 700_000 }, { builds: { is: "silent" } }).action.do).toBe(
      "delete-worker",
    );
  });
});

describe("deletion", () => {
  test("a worker that is deleted drains, stops, and goes", () => {
    const busy = step({ at: "running", builds: 1 }, { isDeleted: true, claim, builds: known(1) });
    expect(busy).toMatchObject({ state: { at: "terminating", builds: 1 }, action: { do: "wait" } });
    const done = step(busy.state, { isDeleted: true, claim, builds: known(0) });
    expect(done.action).toEqual({ do: "delete-pod", isForced: false });
    expect(step(done.state, { isDeleted: true, pod: { is: "absent" } }).action).toEqual({ do: "finish" });
  });

  test("builds that never end are cut after the drain timeout", () => {
    const state = { at: "terminating", since: 1_000_000 - rules.drainMs, builds: 1 } as const;
    expect(step(state, { isDeleted: true, builds: known(1) }).action).toEqual({
      do: "delete-pod",
      isForced: true,
    });
  });

  test("a failed worker stays until it is deleted", () => {
    const failed = { at: "failed", since: 0, reason: "Error", message: "" } as const;
    expect(step(failed, {})).toEqual({ state: failed, action: { do: "wait" } });
    const pod = { is: "ended", reason: "Error", message: "" } as const;
    expect(step(failed, { isDeleted: true, pod }).action.do).toBe("delete-pod");
  });
});

test("an idle worker that fails its probe is unavailable until it passes again", () => {
  const { state } = step({ at: "idle", since: 0 }, { pod: unready });
  expect(state).toEqual({ at: "provisioning", since: 1_000_000 });
  expect(step(state, { pod: ready }).state).toEqual({ at: "idle", since: 1_000_000 });
});
