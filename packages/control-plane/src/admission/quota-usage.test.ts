import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { bucketOf, inScope, usageOf } from "./quota-usage.ts";

const quota = (scopeName: string, operator = "Exists", values: string[] = []): JsonObject => ({
  spec: { scopeSelector: { matchExpressions: [{ scopeName, operator, values }] } },
});

test("every bounded resource is used up by objects of one kind", () => {
  expect(
    [
      "count/widgets.example.com",
      "secrets",
      "services.nodeports",
      "requests.storage",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
      "gold.deviceclass.resource.k8s.io/devices",
      "limits.cpu",
      "requests.example.com/dongle",
    ].map(bucketOf),
  ).toEqual([
    "widgets.example.com",
    "secrets",
    "services",
    "persistentvolumeclaims",
    "persistentvolumeclaims",
    "resourceclaims.resource.k8s.io",
    "pods",
    "pods",
  ]);
});

test("a claim counts with the most devices that it may be given of each class", () => {
  const gold = { deviceClassName: "gold", allocationMode: "ExactCount" };
  const claim = {
    spec: {
      devices: {
        requests: [
          { name: "a", exactly: { ...gold, count: 2 } },
          {
            name: "b",
            firstAvailable: [
              { ...gold, count: 1 },
              { ...gold, count: 3 },
            ],
          },
          { name: "c", exactly: { deviceClassName: "silver", allocationMode: "All" } },
        ],
      },
    },
  };
  expect(usageOf("resourceclaims.resource.k8s.io", claim)).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gold.deviceclass.resource.k8s.io/devices": "5",
    "silver.deviceclass.resource.k8s.io/devices": "32",
  });
});

test("pods that look across namespaces are in the scope of that name, and no others are", () => {
  const pod = (term: JsonObject): JsonObject => ({
    spec: {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
        },
      },
    },
  });
  const scoped = (term: JsonObject) => inScope(quota("CrossNamespacePodAffinity"), "pods", pod(term));
  expect(scoped({ topologyKey: "zone" })).toBe(false);
  expect(scoped({ topologyKey: "zone", namespaces: ["other"] })).toBe(true);
  expect(scoped({ topologyKey: "zone", namespaceSelector: {} })).toBe(true);
});

test.each([
  ["Exists", [], "gold", true],
  ["Exists", [], "", false],
  ["DoesNotExist", [], "", true],
  ["In", ["gold"], "gold", true],
  ["In", ["gold"], "silver", false],
  ["NotIn", ["gold"], "silver", true],
  ["NotIn", ["gold"], "", true],
])("scope by class %s %j takes %j: %j", (operator, values, name, matches) => {
  const pod = { spec: { priorityClassName: name } };
  expect(inScope(quota("PriorityClass", operator, values), "pods", pod)).toBe(matches);
  const volume = { status: { currentVolumeAttributesClassName: name } };
  const attributes = quota("VolumeAttributesClass", operator, values);
  expect(inScope(attributes, "persistentvolumeclaims", volume)).toBe(matches);
  expect(inScope(attributes, "secrets", {})).toBe(false);
});
