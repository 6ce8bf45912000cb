import { milliseconds } from "@windlass/clock";
import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineResource } from "./define-resource.ts";
import { duration, filled } from "./field-schemas.ts";

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

test("an object that may be left out is what its fields default to, in the definition too", () => {
  const scaling = filled(
    z.object({ min: z.int32().default(1), max: z.int32().default(3), by: z.string().optional() }),
  );
  const Pool = defineResource({
    group: "example.com",
    version: "v1",
    kind: "Pool",
    spec: z.object({ scaling }),
  });
  expect(Pool.make("a", {}).spec.scaling).toEqual({ min: 1, max: 3 });
  expect(Pool.make("a", { scaling: { min: 2 } }).spec.scaling).toEqual({ min: 2, max: 3 });
  const spec = Pool.crd().spec.versions[0]?.schema?.openAPIV3Schema?.properties?.spec;
  expect(spec?.properties?.scaling).toMatchObject({ default: { min: 1, max: 3 } });
  expectTypeOf(Pool.make("a", {}).spec.scaling.max).toEqualTypeOf<number>();
  expect(() => filled(z.object({ name: z.string() }))).toThrow("name");
});
