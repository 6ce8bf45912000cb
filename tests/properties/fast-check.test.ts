import * as original from "fast-check";
import { afterAll, expect, test, vi } from "vitest";

vi.stubEnv("PROPERTY_SECONDS", "0.05");
const fc = await import("./fast-check.ts");
afterAll(() => vi.unstubAllEnvs());

const once = { numRuns: 1 };

test("a property is tried until the time is over, with another seed each time", async () => {
  const seen = new Set<number>();
  let runs = 0;
  const began = performance.now();
  await fc.assert(
    fc.property(fc.integer(), (drawn) => {
      runs += 1;
      seen.add(drawn);
    }),
    once,
  );
  expect(performance.now() - began).toBeGreaterThanOrEqual(50);
  expect(runs).toBeGreaterThan(1);
  expect(seen.size).toBeGreaterThan(1);
  let others = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async () => {
      others += 1;
      await new Promise(setImmediate);
    }),
    once,
  );
  expect(others).toBeGreaterThan(1);
});

test("a counterexample ends it, and is repeated once by its seed", async () => {
  const no = fc.property(fc.integer(), () => false);
  const notLater = fc.asyncProperty(fc.integer(), () => Promise.resolve(false));
  expect(() => fc.assert(no)).toThrow("Counterexample");
  await expect(fc.assert(notLater)).rejects.toThrow("Counterexample");
  let runs = 0;
  await fc.assert(
    fc.property(fc.integer(), () => {
      runs += 1;
    }),
    { ...once, seed: 1 },
  );
  expect(runs).toBe(1);
});

test("everything else is the original", () => {
  expect(Object.keys(fc).toSorted()).toEqual(Object.keys(original).toSorted());
  expect(fc.default.integer).toBe(original.integer);
  expect(fc.default.assert).toBe(fc.assert);
});
