import fc from "fast-check";
import { expect, test } from "vitest";
import type { ScalingRules } from "./scaling.ts";
import { GRACE_MS, type Happening, ScalingModel } from "./scaling-model.fixture.ts";

const ALL_STEPS = 1_000;
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    do: fc.constant("enqueue" as const),
    count: fc.integer({ min: 1, max: 40 }),
    takesMs: fc.integer({ min: 100, max: 60_000 }),
  }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("reconcile" as const), diesAfter: fc.constant(ALL_STEPS) }),
  },
  fc.record({ do: fc.constant("reconcile" as const), diesAfter: fc.nat(12) }),
  fc.constant({ do: "roll" as const }),
  fc.constant({ do: "outage" as const }),
  fc.constant({ do: "scheduler restart" as const }),
  fc.constant({ do: "restart" as const }),
);
const happenings = fc.array(happening, { maxLength: 60, size: "max" });

const byQueue = fc
  .record({
    min: fc.nat(3),
    more: fc.integer({ min: 1, max: 10 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ min, more, concurrency }): ScalingRules & { by: "queue" } => ({
    by: "queue",
    min,
    max: min + more,
    concurrency,
    delayMs: 30_000,
    drainMs: GRACE_MS,
    noticeMs: 2_000,
  }));

/** Lets time pass, with a look every five seconds. */
function rest(model: ScalingModel, rules: ScalingRules, ms: number): void {
  for (let passed = 0; passed < ms; passed += 5_000) {
    model.happen({ do: "reconcile", diesAfter: ALL_STEPS }, rules);
    model.happen({ do: "wait", ms: 5_000 }, rules);
  }
}

test("no action is ended by scaling: no pod is terminated that has one, whenever the operator dies", () => {
  fc.assert(
    fc.property(byQueue, happenings, (rules, all) => {
      const model = new ScalingModel(rules.min, rules.concurrency);
      for (const one of all) {
        model.happen(one, rules);
        expect(model.disturbed).toEqual([]);
        expect(model.replicas).toBeLessThanOrEqual(rules.max);
      }
      expect(model.killed).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test("what waits is run, and then all but the fewest pods go", () => {
  fc.assert(
    fc.property(byQueue, happenings, (rules, all) => {
      const model = new ScalingModel(rules.min, rules.concurrency);
      for (const one of all) model.happen(one, rules);
      model.isReachable = true;
      rest(model, rules, 40 * 60_000 * 2);
      expect(model.completed).toBe(model.asked);
      expect(model.killed).toBe(0);
      expect(model.replicas).toBe(rules.min);
      expect(model.live).toHaveLength(rules.min);
      expect(model.live.filter(({ markedAt, firstAt }) => (markedAt ?? firstAt) !== undefined)).toEqual([]);
      expect(model.live.filter(({ name }) => model.drains.has(name))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("as many pods as spec.replicas has, and no action is ended by scaling", () => {
  const changes = fc.array(fc.tuple(fc.nat(12), happenings), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(changes, fc.integer({ min: 1, max: 4 }), (all, concurrency) => {
      const model = new ScalingModel(4, concurrency);
      let rules: ScalingRules = { by: "replicas", replicas: 4, drainMs: GRACE_MS, noticeMs: 2_000 };
      for (const [replicas, between] of all) {
        rules = { by: "replicas", replicas, drainMs: GRACE_MS, noticeMs: 2_000 };
        // Without a scheduler that answers, pods end their actions after they were terminated.
        for (const one of between.filter(({ do: what }) => what !== "outage")) model.happen(one, rules);
      }
      rest(model, rules, 10 * 60_000);
      expect(model.replicas).toBe(rules.by === "replicas" ? rules.replicas : -1);
      expect(model.killed).toBe(0);
      expect(model.disturbed).toEqual([]);
      expect(model.live.filter(({ name }) => model.drains.has(name))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("a settled system is left alone", () => {
  fc.assert(
    fc.property(byQueue, fc.integer({ min: 0, max: 5 }), (rules, busy) => {
      const model = new ScalingModel(rules.min, rules.concurrency);
      model.happen({ do: "enqueue", count: busy, takesMs: 10 * 3_600_000 }, rules);
      rest(model, rules, 5 * 60_000);
      const before = structuredClone({ replicas: model.replicas, state: model.state, pods: model.pods });
      rest(model, rules, 5 * 60_000);
      expect({ replicas: model.replicas, state: model.state, pods: model.pods }).toEqual(before);
    }),
    { numRuns: 50 },
  );
});
