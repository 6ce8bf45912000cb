import fc from "fast-check";
import { expect, test } from "vitest";
import { proportional } from "./rollout.ts";

const sets = fc.array(
  fc.record({ replicas: fc.integer({ min: 1, max: 200 }), max: fc.option(fc.integer({ min: 1, max: 300 })) }),
  {
    minLength: 2,
    maxLength: 6,
  },
);

test("scaling in the middle of a rollout hands out every replica, takes none that is not there, and invents no set", () => {
  fc.assert(
    fc.property(
      sets,
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 0, max: 50 }),
      (given, replicas, surge) => {
        const named = given.map(({ replicas: size, max }, index) => ({
          uid: String(index),
          replicas: size,
          max: max ?? undefined,
          created: String(index),
        }));
        const actual = named.reduce((sum, set) => sum + set.replicas, 0);
        const plan = proportional({ replicas, surge, actual, sets: named });
        expect(plan.map(({ uid }) => uid).toSorted()).toEqual(named.map(({ uid }) => uid).toSorted());
        expect(plan.every((scaling) => scaling.replicas >= 0)).toBe(true);
        const total = plan.reduce((sum, scaling) => sum + scaling.replicas, 0);
        expect(total).toBeGreaterThanOrEqual(replicas > 0 ? replicas + surge : 0);
      },
    ),
  );
});
