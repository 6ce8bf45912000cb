import fc from "fast-check";
import { expect, test } from "vitest";
import { planRollout, type RolloutSet, surgeAndUnavailable } from "./rollout.ts";

const set = (uid: string, replicas: number, available = replicas): RolloutSet => ({
  uid,
  replicas,
  actual: replicas,
  available,
  created: uid,
});

test("percentages of surge round up, of unavailability down", () => {
  expect(surgeAndUnavailable({ rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } }, 10)).toEqual({
    surge: 3,
    unavailable: 2,
  });
});

test("recreate waits until the last old pod is deleted", () => {
  const strategy = { type: "Recreate" as const };
  const current = set("new", 0);
  expect(planRollout({ replicas: 3, strategy, current, old: [set("old", 3)] })).toEqual([
    { uid: "old", replicas: 0 },
  ]);
  expect(planRollout({ replicas: 3, strategy, current, old: [{ ...set("old", 0), actual: 1 }] })).toEqual([]);
  expect(planRollout({ replicas: 3, strategy, current, old: [set("old", 0)] })).toEqual([
    { uid: "new", replicas: 3 },
  ]);
});

test("a rolling update ends with the wanted number of new pods and no old ones, within its bounds at every step", () => {
  const amounts = fc.oneof(
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 100 }).map((n) => `${n}%`),
  );
  fc.assert(
    fc.property(
      fc.nat({ max: 20 }),
      amounts,
      amounts,
      fc.array(fc.nat({ max: 10 }), { maxLength: 3 }),
      (replicas, maxSurge, maxUnavailable, olds) => {
        const strategy = { type: "RollingUpdate" as const, rollingUpdate: { maxSurge, maxUnavailable } };
        const { surge, unavailable } = surgeAndUnavailable(strategy, replicas);
        let current = set("new", 0);
        let old = olds.map((count, index) => set(`old${index}`, count));
        const start = old.reduce((sum, { replicas: n }) => sum + n, 0);
        for (let step = 0; step < 100; step++) {
          const plan = planRollout({ replicas, strategy, current, old });
          if (plan.length === 0) break;
          for (const { uid, replicas: wanted } of plan) {
            // Every pod becomes available at once: the friendliest cluster.
            if (uid === "new") current = set("new", wanted);
            else old = old.map((known) => (known.uid === uid ? set(uid, wanted) : known));
          }
          const total = current.replicas + old.reduce((sum, { replicas: n }) => sum + n, 0);
          expect(total).toBeLessThanOrEqual(Math.max(replicas + surge, start));
          expect(total).toBeGreaterThanOrEqual(Math.min(replicas - unavailable, start));
        }
        expect(current.replicas).toBe(replicas);
        expect(old.every(({ replicas: n }) => n === 0)).toBe(true);
      },
    ),
  );
});
