import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../json.ts";
import { fromStored, toStored } from "./versions.ts";

const quantity = fc.constantFrom("1", "10", "500m");
const utilization = fc.integer({ min: 1, max: 100 });
const metric = fc.oneof(
  fc.record({
    type: fc.constant("Resource"),
    resource: fc.record({
      name: fc.constant("memory"),
      target: fc.oneof(
        fc.record({ type: fc.constant("Utilization"), averageUtilization: utilization }),
        fc.record({ type: fc.constant("AverageValue"), averageValue: quantity }),
      ),
    }),
  }),
  fc.record({
    type: fc.constant("Pods"),
    pods: fc.record({
      metric: fc.constant({ name: "rps" }),
      target: fc.record({ type: fc.constant("AverageValue"), averageValue: quantity }),
    }),
  }),
  fc.record({
    type: fc.constant("External"),
    external: fc.record({
      metric: fc.constant({ name: "queue", selector: { matchLabels: { a: "b" } } }),
      target: fc.record({ type: fc.constant("Value"), value: quantity }),
    }),
  }),
);
const rules = fc.record({
  stabilizationWindowSeconds: fc.integer({ min: 0, max: 3600 }),
  selectPolicy: fc.constantFrom("Max", "Min"),
  policies: fc.constant([{ type: "Pods", value: 4, periodSeconds: 15 }]),
});
const stored = fc.record({
  apiVersion: fc.constant("autoscaling/v2"),
  kind: fc.constant("HorizontalPodAutoscaler"),
  metadata: fc.constantFrom({ name: "h" }, { name: "h", annotations: { note: "mine" } }),
  spec: fc.record(
    {
      scaleTargetRef: fc.constant({ kind: "Deployment", name: "d", apiVersion: "apps/v1" }),
      minReplicas: fc.integer({ min: 1, max: 5 }),
      maxReplicas: fc.integer({ min: 5, max: 9 }),
      // The cpu comes last, where the old version puts it.
      metrics: fc.tuple(fc.array(metric, { maxLength: 3 }), utilization).map(([others, cpu]) => [
        ...others,
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpu } },
        },
      ]),
      behavior: fc.record({ scaleUp: rules, scaleDown: rules }),
    },
    { requiredKeys: ["scaleTargetRef", "minReplicas", "maxReplicas", "metrics"] },
  ),
  status: fc.constant({ currentReplicas: 1, desiredReplicas: 2 }),
});

test("what is stored survives a client of the old version that writes back what it read", () => {
  fc.assert(
    fc.property(stored, (object) => {
      expect(toStored(fromStored(object as unknown as JsonObject))).toEqual(object);
    }),
  );
});

test("an old object without metrics is scaled by its cpu", () => {
  const { spec } = toStored({ metadata: {}, spec: { maxReplicas: 3 } });
  expect(spec).toMatchObject({
    metrics: [{ resource: { name: "cpu", target: { averageUtilization: 80 } } }],
  });
});

test("an annotation that is no JSON is left where it is", () => {
  const annotations = { "autoscaling.alpha.kubernetes.io/metrics": "{" };
  expect(toStored({ metadata: { annotations }, spec: {} }).metadata).toEqual({ annotations });
});
