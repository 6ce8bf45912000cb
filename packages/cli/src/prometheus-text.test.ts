import { Registry } from "@windlass/runtime";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readSamples, total } from "./prometheus-text.ts";

test("what a registry renders is read back, whatever its labels are", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.array(fc.nat()), (names, values) => {
      const registry = new Registry();
      const gauge = registry.gauge({ name: "depth", help: "How deep\nit is", labels: ["of", "other"] });
      const wanted = names.map((of, index) => ({ of, other: "x", value: values[index] ?? 0.5 }));
      for (const { value, ...labels } of wanted) gauge.set(value, labels);
      const read = readSamples(registry.render()).map(({ labels, value }) => ({ ...labels, value }));
      expect(read).toEqual(expect.arrayContaining(wanted));
      expect(read).toHaveLength(wanted.length);
    }),
  );
});

test("samples are added up by name and labels", () => {
  const samples = readSamples(
    '# TYPE a counter\na{x="1",y="2"} 3\na{x="1",y="3"} 4 1700000000\na{x="2"} 5\nb +Inf\nnonsense\n',
  );
  expect(total(samples, "a")).toBe(12);
  expect(total(samples, "a", { x: "1" })).toBe(7);
  expect(total(samples, "b")).toBe(Number.POSITIVE_INFINITY);
});
