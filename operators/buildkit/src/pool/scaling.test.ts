import { expect, test } from "vitest";
import { rendezvous } from "./cache-slots.ts";
import { failuresOf } from "./failures.ts";
import { type PoolSeen, type ScalingRules, scalingPlan, type WorkerSeen } from "./scaling.ts";

const rules: ScalingRules = {
  mode: "auto",
  min: 0,
  max: 5,
  idleMs: 900_000,
  failedKept: 2,
  usedPerIdle: 10,
  reuse: "pool",
};
const now = 10_000_000;
const worker = (slot: number, own: Partial<WorkerSeen> = {}): WorkerSeen => ({
  name: `w-${slot}`,
  slot,
  phase: "Idle",
  since: now,
  isDeleted: false,
  isClaimed: false,
  isCurrent: true,
  affinityKey: undefined,
  madeFor: undefined,
  lastUsedBy: undefined,
  ...own,
});
const plan = (own: Partial<PoolSeen>, other: Partial<ScalingRules> = {}) =>
  scalingPlan(
    { now, workers: [], waiting: [], slotAffinity: new Map(), failures: { count: 0, lastAt: 0 }, ...own },
    { ...rules, ...other },
  );
const asks = (...keys: (string | undefined)[]) =>
  keys.map((affinityKey) => ({ owner: "someone", affinityKey }));
const names = ({ remove }: ReturnType<typeof plan>) => remove.map(({ name }) => name);
const busy = (slot: number) => worker(slot, { phase: "Running", isClaimed: true });

test("workers are made for those who wait, as many as there is room for", () => {
  expect(plan({ waiting: asks(undefined, undefined) }).create).toHaveLength(2);
  const full = plan({
    waiting: asks(...Array.from({ length: 9 }, () => undefined)),
    workers: [busy(0), busy(1)],
  });
  expect(full.create.map(({ slot }) => slot)).toEqual([2, 3, 4]);
  expect(full).toMatchObject({ isExhausted: true, desired: 5, needed: 3 });
});

test("workers that start already count for those who wait", () => {
  const workers = [worker(0, { phase: "Pending" }), worker(1, { phase: "Provisioning" })];
  expect(plan({ waiting: asks(undefined, undefined), workers }).create).toEqual([]);
});

test("a request gets the slot that has its cache, though others came before it", () => {
  const slotAffinity = new Map([[3, "shop"]]);
  const made = worker(1, { phase: "Provisioning", madeFor: "other" });
  const { create } = plan({ waiting: asks("other", "shop"), workers: [made], slotAffinity });
  expect(create).toEqual([{ slot: 3, affinityKey: "shop" }]);
});

test("the warm minimum is kept beside what is in use, within max", () => {
  expect(plan({ workers: [busy(0), busy(1)] }, { min: 2 }).create).toHaveLength(2);
  expect(plan({ workers: [busy(0), busy(1), busy(2), busy(3)] }, { min: 2 }).create).toHaveLength(1);
});

test("in manual mode there are as many as min says, and none on demand", () => {
  expect(
    plan({ workers: [busy(0)], waiting: asks(undefined) }, { mode: "manual", min: 2 }).create,
  ).toHaveLength(1);
  expect(plan({ waiting: asks(undefined) }, { mode: "manual" }).create).toEqual([]);
  expect(names(plan({ workers: [busy(0), worker(1), worker(2)] }, { mode: "manual", min: 2 }))).toEqual([
    "w-1",
  ]);
});

test("in dynamic mode the spare workers grow with those in use", () => {
  const workers = [busy(0), busy(1), busy(2)];
  expect(plan({ workers }, { mode: "dynamic", usedPerIdle: 2 }).create).toHaveLength(2);
  expect(plan({ workers }, { mode: "auto", usedPerIdle: 2 }).create).toEqual([]);
});

test("idle workers go when their time is over, those first that have no cache, and not below the minimum", () => {
  const old = now - 900_000;
  const workers = [
    worker(0, { since: old - 3, affinityKey: "shop" }),
    worker(1, { since: old }),
    worker(2, { since: old + 1 }),
  ];
  expect(names(plan({ workers }, { min: 1 }))).toEqual(["w-1", "w-0"]);
  expect(plan({ workers }, { min: 1 }).until).toBe(now + 1);
  expect(names(plan({ workers }, { min: 2 }))).toEqual(["w-1"]);
});

test("a stale worker goes once its replacement is ready, or at once where there is no room for one", () => {
  const stale = worker(0, { isCurrent: false });
  expect(plan({ workers: [stale] }, { min: 1 })).toMatchObject({ create: [{ slot: 1 }], remove: [] });
  const starting = worker(1, { phase: "Provisioning" });
  expect(names(plan({ workers: [stale, starting] }, { min: 1 }))).toEqual([]);
  expect(names(plan({ workers: [stale, worker(1)] }, { min: 1 }))).toEqual(["w-0"]);
  expect(names(plan({ workers: [stale] }, { min: 1, max: 1 }))).toEqual(["w-0"]);
});

test("failed workers are kept for a look at them, unless their places are needed", () => {
  const failed = [0, 1, 2].map((slot) => worker(slot, { phase: "Failed", since: now - 10 + slot }));
  expect(names(plan({ workers: failed }))).toEqual(["w-0"]);
  const crowded = plan({ workers: failed, waiting: asks(undefined, undefined, undefined) }, { max: 3 });
  expect(names(crowded)).toEqual(["w-0", "w-1", "w-2"]);
});

test("nothing more is removed for the sake of room that is about to be there", () => {
  const leaving = worker(0, { phase: "Terminating", isDeleted: true });
  const failed = worker(1, { phase: "Failed" });
  const waiting = asks(undefined);
  expect(names(plan({ workers: [failed], waiting }, { max: 1 }))).toEqual(["w-1"]);
  expect(names(plan({ workers: [leaving, failed], waiting }, { max: 2 }))).toEqual([]);
});

test("after failures the next worker has to wait, for longer each time", () => {
  const waiting = asks(undefined);
  const first = plan({ waiting, failures: { count: 1, lastAt: now - 4_999 } });
  expect(first).toMatchObject({ create: [], needed: 1, until: now + 1 });
  expect(plan({ waiting, failures: { count: 1, lastAt: now - 5_000 } }).create).toHaveLength(1);
  expect(plan({ waiting, failures: { count: 4, lastAt: now - 39_999 } }).create).toEqual([]);
  expect(plan({ waiting, failures: { count: 30, lastAt: now - 300_000 } }).create).toHaveLength(1);
});

test("failures are counted once each, until a worker comes up", () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const failed = (seconds: number) => ({ status: { phase: "Failed", phaseSince: at(seconds) } });
  const ready = (seconds: number) => ({ status: { phase: "Idle", readyAt: at(seconds) } });
  const count = (before: { count: number; lastAt: number }, ...workers: object[]) =>
    failuresOf(before, workers as Parameters<typeof failuresOf>[1]);
  const none = { count: 0, lastAt: 0 };
  const two = count(none, failed(10), failed(20));
  expect(two).toEqual({ count: 2, lastAt: 20_000 });
  expect(count(two, failed(10), failed(20))).toEqual(two);
  expect(count(two)).toEqual(two);
  expect(count(two, failed(20), failed(30))).toEqual({ count: 3, lastAt: 30_000 });
  expect(count(two, failed(20), ready(25))).toEqual(none);
  expect(count(two, ready(25), failed(30))).toEqual({ count: 1, lastAt: 30_000 });
});

test("a worker that is lost while a client has it delays no other", () => {
  const lost = {
    phase: "Failed",
    phaseSince: new Date(now).toISOString(),
    readyAt: new Date(1).toISOString(),
  };
  const failures = (allocationCount: number) => {
    const workers: object[] = [{ status: { ...lost, allocationCount } }];
    return failuresOf({ count: 0, lastAt: 0 }, workers as Parameters<typeof failuresOf>[1]);
  };
  expect(failures(0)).toEqual({ count: 1, lastAt: now });
  expect(failures(1)).toEqual({ count: 0, lastAt: 0 });
  const workers = [worker(0, { phase: "Failed" })];
  expect(plan({ workers, waiting: asks(undefined), failures: failures(0) }).create).toEqual([]);
  expect(plan({ workers, waiting: asks(undefined), failures: failures(1) }).create).toHaveLength(1);
});

test("of a thousand keys over ten slots, one slot that goes moves its own and no others", () => {
  const slots = Array.from({ length: 10 }, (_, slot) => slot);
  const keys = Array.from({ length: 1_000 }, (_, index) => `project-${index}`);
  const before = keys.map((key) => rendezvous(key, slots));
  const after = keys.map((key) => rendezvous(key, slots.slice(0, 9)));
  const moved = keys.filter((_, index) => before[index] !== after[index]);
  expect(moved.length).toBeLessThan(150);
  expect(moved).toEqual(keys.filter((_, index) => before[index] === 9));
});

test("a worker that those who wait may not be given makes room for one that they may", () => {
  const theirs = worker(0, { lastUsedBy: "alice" });
  const waiting = [{ owner: "bob", affinityKey: undefined }];
  expect(plan({ workers: [theirs], waiting }).create).toEqual([]);
  expect(plan({ workers: [theirs], waiting }, { reuse: "sameIdentity" })).toMatchObject({
    create: [{ slot: 1 }],
    remove: [],
  });
  expect(names(plan({ workers: [theirs], waiting }, { reuse: "sameIdentity", max: 1 }))).toEqual(["w-0"]);
  const again = [{ owner: "alice", affinityKey: undefined }];
  expect(plan({ workers: [theirs], waiting: again }, { reuse: "sameIdentity", max: 1 })).toMatchObject({
    create: [],
    remove: [],
  });
});
