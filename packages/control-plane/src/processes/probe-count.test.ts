import fc from "fast-check";
import { expect, test } from "vitest";
import { countOutcome, firstCount } from "./probe-count.ts";

const outcomes = fc.array(fc.constantFrom("success", "failure"), { maxLength: 30 });

test("a verdict is the outcome that last came often enough in a row", () => {
  fc.assert(
    fc.property(
      outcomes,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (seen, good, bad) => {
        const thresholds = { successThreshold: good, failureThreshold: bad };
        const count = seen.reduce(
          (now, outcome) => countOutcome(now, outcome, thresholds),
          firstCount("readiness"),
        );
        let expected = "unknown";
        for (let end = 1; end <= seen.length; end++) {
          const last = seen[end - 1] as "success" | "failure";
          const needed = last === "success" ? good : bad;
          const run = seen.slice(Math.max(0, end - needed), end);
          if (run.length === needed && run.every((one) => one === last)) expected = last;
        }
        expect(count.verdict).toBe(expected);
      },
    ),
  );
});

test("a container counts as alive until it is shown to be dead, and as nothing else before it is shown", () => {
  expect(firstCount("liveness").verdict).toBe("success");
  expect(firstCount("readiness").verdict).toBe("unknown");
  expect(firstCount("startup").verdict).toBe("unknown");
});
