import { milliseconds } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { duration } from "./field-schemas.ts";

test("a duration that a field may have is one that can be counted with", () => {
  const amount = fc.oneof(
    fc.nat().map(String),
    fc.tuple(fc.nat(), fc.nat()).map(([whole, part]) => `${whole}.${part}`),
  );
  const unit = fc.constantFrom("ns", "us", "µs", "ms", "s", "m", "h");
  const parts = fc.array(fc.tuple(amount, unit), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(parts, (some) => {
      const text = some.map(([count, of]) => `${count}${of}`).join("");
      expect(duration().parse(text)).toBe(text);
      expect(milliseconds(text, "x")).toBeGreaterThanOrEqual(0);
    }),
  );
});
