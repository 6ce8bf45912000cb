import { lostInRoundTrip } from "@windlass/runtime";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WebApp } from "./index.ts";

const count = fc.integer({ min: 1, max: 1000 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const autoscaling = fc
  .tuple(count, count, fc.integer({ min: 1, max: 100 }))
  .map(([one, other, targetCPUUtilizationPercentage]) => ({
    min: Math.min(one, other),
    max: Math.max(one, other),
    targetCPUUtilizationPercentage,
  }));
const specs = fc.record(
  {
    image: fc.constant("nginx:1.25"),
    replicas: fc.integer({ min: 0, max: 1000 }),
    host: fc.constant("shop.example.com"),
    autoscaling,
    env: fc.constant([{ name: "A", value: "b" }]),
  },
  { requiredKeys: ["image", "replicas"] },
);

test("nothing of a v1 is lost by way of v2", () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const metadata = { name: "app", annotations: { note: "mine" } };
      const app = WebApp.make(metadata, spec, { phase: "Ready" });
      expect(lostInRoundTrip(WebApp, app, "v2")).toEqual([]);
    }),
  );
});

test("nothing of a v2 is lost by way of v1", () => {
  const scalings = fc.oneof(
    fc.record({ min: fc.integer({ min: 0, max: 1000 }) }),
    autoscaling,
    autoscaling.map(({ min, max }) => ({ min, max })),
  );
  fc.assert(
    fc.property(scalings, optional(fc.constant({ host: "shop.example.com" })), (scaling, ingress) => {
      const spec = { image: "nginx:1.25", scaling, ...(ingress && { ingress }) };
      const before = { apiVersion: "example.com/v2", kind: "WebApp", metadata: { name: "app" }, spec };
      const after = WebApp.convert(WebApp.convert(before, "v1"), "v2");
      expect(after).toMatchObject({ spec });
    }),
  );
});

test("an annotation that is no number of replicas does no harm", () => {
  for (const kept of ["", "many", "-1", "1e9", "2000"]) {
    const metadata = { name: "app", annotations: { "example.com/v1-replicas": kept } };
    const spec = { image: "nginx:1.25", scaling: { min: 2, max: 5 } };
    const object = { apiVersion: "example.com/v2", kind: "WebApp", metadata, spec };
    expect(WebApp.convert(object, "v1")).toMatchObject({ spec: { replicas: 2 } });
  }
});
