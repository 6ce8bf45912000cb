import fc from "fast-check";
import { expect, test } from "vitest";
import { type WorkerPhase, workerPhases } from "../worker/worker.ts";
import { type PoolSeen, type ScalingRules, scalingPlan, type WorkerSeen } from "./scaling.ts";

const rules: fc.Arbitrary<ScalingRules> = fc
  .record({
    mode: fc.constantFrom("auto", "manual", "dynamic"),
    min: fc.integer({ min: 0, max: 6 }),
    extra: fc.integer({ min: 0, max: 6 }),
    idleMs: fc.constantFrom(0, 60_000, 900_000),
    failedKept: fc.integer({ min: 0, max: 3 }),
    usedPerIdle: fc.integer({ min: 1, max: 5 }),
    reuse: fc.constantFrom("never", "sameIdentity", "sameAffinity", "pool"),
  })
  .map(({ extra, ...own }) => ({ ...own, max: Math.max(1, own.min + extra) }));

/** A pool as it may be found at any moment, also one whose max was lowered. */
const pools = fc
  .record({
    now: fc.constant(10_000_000),
    workers: fc.uniqueArray(
      fc.record({
        slot: fc.integer({ min: 0, max: 11 }),
        phase: fc.constantFrom<WorkerPhase>(...workerPhases),
        age: fc.integer({ min: 0, max: 2_000_000 }),
        isDeleted: fc.boolean(),
        isClaimed: fc.boolean(),
        isCurrent: fc.boolean(),
        affinityKey: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
        lastUsedBy: fc.option(fc.constantFrom("alice", "bob"), { nil: undefined }),
      }),
      { selector: ({ slot }) => slot, maxLength: 10 },
    ),
    waiting: fc.array(
      fc.record({
        owner: fc.constantFrom("alice", "bob"),
        affinityKey: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }),
      }),
      { maxLength: 12 },
    ),
    failures: fc.integer({ min: 0, max: 4 }).map((count) => ({ count, lastAt: 9_990_000 })),
  })
  .map(
    ({ workers, ...pool }): PoolSeen => ({
      ...pool,
      workers: workers.map(
        ({ age, ...worker }): WorkerSeen => ({
          ...worker,
          name: `w-${worker.slot}`,
          madeFor: undefined,
          since: pool.now - age,
        }),
      ),
      slotAffinity: new Map([[0, "a"]]),
    }),
  );

test("no plan removes a worker that a client has, nor makes more than max", () => {
  fc.assert(
    fc.property(pools, rules, (pool, rule) => {
      const plan = scalingPlan(pool, rule);
      const byName = new Map(pool.workers.map((worker) => [worker.name, worker]));
      for (const { name } of plan.remove) {
        const worker = byName.get(name);
        expect(worker?.isDeleted).toBe(false);
        if (worker?.phase !== "Failed") expect(worker).toMatchObject({ phase: "Idle", isClaimed: false });
      }
      expect(new Set(plan.remove.map(({ name }) => name)).size).toBe(plan.remove.length);
      if (plan.create.length > 0)
        expect(pool.workers.length + plan.create.length).toBeLessThanOrEqual(rule.max);
      const slots = [...pool.workers, ...plan.create].map(({ slot }) => slot);
      expect(new Set(slots).size).toBe(slots.length);
      for (const { slot } of plan.create) expect(slot).toBeLessThan(rule.max);
    }),
    { numRuns: 2_000 },
  );
});

test("an unused pool settles: min are idle, no more, and nothing is left to do", () => {
  fc.assert(
    fc.property(pools, rules, (start, rule) => {
      let workers = [...start.workers];
      let now = start.now;
      for (let round = 0; round < 60; round++) {
        const pool = { ...start, now, workers, waiting: [], failures: { count: 0, lastAt: 0 } };
        const plan = scalingPlan(pool, rule);
        const removed = new Set(plan.remove.map(({ name }) => name));
        const made = plan.create.map(
          ({ slot }): WorkerSeen => ({
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
          }),
        );
        workers = [
          ...workers
            // What goes is gone by the next round, what is in use is released, what starts comes
            // up.
            .filter(
              ({ name, isDeleted, phase }) => !removed.has(name) && !isDeleted && phase !== "Terminating",
            )
            .map(
              (worker): WorkerSeen =>
                worker.phase === "Failed" || worker.phase === "Idle"
                  ? { ...worker, isClaimed: false }
                  : { ...worker, isClaimed: false, phase: "Idle", since: now },
            ),
          ...made,
        ];
        now += rule.idleMs + 1_000;
      }
      const idle = workers.filter(({ phase }) => phase === "Idle");
      expect(idle.length).toBe(rule.min);
      expect(idle.every(({ isCurrent }) => isCurrent)).toBe(true);
      expect(workers.filter(({ phase }) => phase === "Failed").length).toBeLessThanOrEqual(rule.failedKept);
      const last = scalingPlan(
        { ...start, now, workers, waiting: [], failures: { count: 0, lastAt: 0 } },
        rule,
      );
      expect(last).toMatchObject({ create: [], remove: [], needed: 0 });
    }),
    { numRuns: 500 },
  );
});
