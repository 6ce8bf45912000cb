import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Story, variants } from "../story.ts";

const v1 = "/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers";
const v2 = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const base: JsonObject = { spec: { scaleTargetRef: target, maxReplicas: 5 } };
const metric = (m: JsonObject): { readonly [path: string]: JsonObject[] } => ({ "spec.metrics": [m] });

export const autoscaling: Story[] = [
  {
    name: "hpa v2",
    at: v2,
    steps: [
      { post: { metadata: { name: "h" }, ...base } },
      { get: "h", at: v1 },
      { post: {} },
      ...variants(base, [
        { "spec.maxReplicas": 0 },
        { "spec.maxReplicas": -1 },
        { "spec.minReplicas": 0 },
        { "spec.minReplicas": -1 },
        { "spec.minReplicas": 6 },
        { "spec.scaleTargetRef": undefined },
        { "spec.scaleTargetRef": { kind: "D/e", name: "a/b" } },
        metric({
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        }),
        metric({ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }),
        metric({
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } },
        }),
        metric({
          type: "Resource",
          resource: { name: "cpu", target: { type: "AverageValue", averageValue: "100m" } },
        }),
        metric({ type: "Resource", resource: { name: "", target: { type: "Nope" } } }),
        metric({ type: "Resource" }),
        metric({}),
        metric({ type: "Nope" }),
        metric({
          type: "Pods",
          pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "10" } },
        }),
        metric({ type: "Pods", pods: { metric: {}, target: { type: "Value", value: "10" } } }),
        metric({
          type: "Object",
          object: {
            describedObject: { kind: "Service", name: "s" },
            metric: { name: "x" },
            target: { type: "Value", value: "10" },
          },
        }),
        metric({ type: "Object", object: { metric: { name: "x" }, target: { type: "Value" } } }),
        metric({
          type: "External",
          external: {
            metric: { name: "x", selector: { matchLabels: { a: "b" } } },
            target: { type: "Value", value: "10" },
          },
        }),
        metric({
          type: "External",
          external: { metric: { name: "x" }, target: { type: "Value", value: "-10" } },
        }),
        metric({
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            container: "c",
            target: { type: "Utilization", averageUtilization: 50 },
          },
        }),
        metric({
          type: "ContainerResource",
          containerResource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        }),
        metric({
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
          pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "10" } },
        }),
        { "spec.behavior": { scaleDown: { stabilizationWindowSeconds: 10 } } },
        { "spec.behavior": { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 10 }] } } },
        {
          "spec.behavior": {
            scaleUp: {
              policies: [{ type: "Nope", value: 0, periodSeconds: 0 }],
              selectPolicy: "Nope",
              stabilizationWindowSeconds: -1,
            },
          },
        },
        {
          "spec.behavior": {
            scaleUp: {
              policies: [{ type: "Pods", value: 1, periodSeconds: 5000 }],
              stabilizationWindowSeconds: 5000,
            },
          },
        },
        { "spec.behavior": { scaleUp: {} } },
        { status: { currentReplicas: 3, desiredReplicas: 3 } },
      ]),
      ...patches("h", [
        { spec: { maxReplicas: 9 } },
        { spec: { maxReplicas: 0 } },
        { spec: { metrics: null } },
        { metadata: { annotations: { a: "b" } } },
      ]),
      ...patches(
        "h",
        [
          {
            status: {
              currentReplicas: 1,
              desiredReplicas: 2,
              conditions: [{ type: "AbleToScale", status: "True" }],
            },
          },
          { status: { currentReplicas: -1 } },
          {
            status: {
              currentMetrics: [
                {
                  type: "Resource",
                  resource: { name: "cpu", current: { averageUtilization: 5, averageValue: "10m" } },
                },
              ],
            },
          },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { get: "h", at: v1 },
      {
        post: {
          metadata: { name: "m" },
          spec: {
            scaleTargetRef: target,
            maxReplicas: 5,
            metrics: [
              {
                type: "Resource",
                resource: { name: "memory", target: { type: "Utilization", averageUtilization: 50 } },
              },
              {
                type: "Resource",
                resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
              },
            ],
            behavior: { scaleDown: { stabilizationWindowSeconds: 10 } },
          },
        },
      },
      { get: "m", at: v1 },
      {
        edit: (object) => {
          (object.spec as JsonObject).maxReplicas = 7;
        },
        name: "m",
        at: v1,
      },
      { get: "m" },
      { delete: "h" },
    ],
  },
  {
    name: "hpa v1",
    at: v1,
    steps: [
      { post: { metadata: { name: "o" }, ...base } },
      { get: "o", at: v2 },
      ...variants(base, [
        { "spec.targetCPUUtilizationPercentage": 50 },
        { "spec.targetCPUUtilizationPercentage": 0 },
        { "spec.minReplicas": 9 },
        { "spec.maxReplicas": 0 },
        {
          "metadata.annotations": {
            "autoscaling.alpha.kubernetes.io/metrics":
              '[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"10"}}]',
          },
        },
      ]),
      ...patches("o", [{ spec: { targetCPUUtilizationPercentage: 70 } }, { spec: { minReplicas: 2 } }]),
      ...patches(
        "o",
        [{ status: { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 9 } }],
        "status",
      ),
      { get: "o", at: v2 },
      { delete: "o" },
    ],
  },
  {
    name: "pdb",
    at: "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
    steps: [
      { post: { metadata: { name: "p" }, spec: { selector: { matchLabels: { a: "b" } }, minAvailable: 1 } } },
      { post: {} },
      { post: { spec: { minAvailable: 1, maxUnavailable: 1 } } },
      { post: { spec: { minAvailable: -1 } } },
      { post: { spec: { maxUnavailable: "50%" } } },
      { post: { spec: { maxUnavailable: "150%" } } },
      { post: { spec: { maxUnavailable: "x" } } },
      { post: { spec: { minAvailable: 1, unhealthyPodEvictionPolicy: "Nope" } } },
      { post: { spec: { minAvailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: {} } } },
      { post: { spec: { minAvailable: 1, selector: { matchExpressions: [{ key: "a", operator: "In" }] } } } },
      ...patches("p", [
        { spec: { minAvailable: 2 } },
        { spec: { minAvailable: null, maxUnavailable: 1 } },
        { spec: { selector: { matchLabels: { a: "c" } } } },
        { metadata: { labels: { a: "b" } } },
      ]),
      { put: { metadata: { name: "p" }, spec: { minAvailable: 3 } }, name: "p" },
      ...patches(
        "p",
        [
          {
            status: {
              disruptionsAllowed: 1,
              currentHealthy: 2,
              desiredHealthy: 1,
              expectedPods: 2,
              observedGeneration: 1,
            },
          },
          { status: { disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1 } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "p" },
    ],
  },
  {
    name: "priorityclass",
    at: "/apis/scheduling.k8s.io/v1/priorityclasses",
    steps: [
      { post: { metadata: { name: "{ns}-p" }, value: 10 } },
      { post: {} },
      { post: { value: 2000000000 } },
      { post: { metadata: { name: "system-mine" }, value: 5 } },
      { post: { value: 1, preemptionPolicy: "Nope" } },
      { post: { value: 1, preemptionPolicy: "Never", description: "d" } },
      { post: { value: 11, globalDefault: true, metadata: { name: "{ns}-global" } } },
      { delete: "{ns}-global" },
      ...patches("{ns}-p", [
        { value: 11 },
        { preemptionPolicy: "Never" },
        { description: "x" },
        { globalDefault: true },
        { globalDefault: false },
      ]),
      { delete: "{ns}-p" },
    ],
  },
  {
    name: "runtimeclass",
    at: "/apis/node.k8s.io/v1/runtimeclasses",
    steps: [
      { post: { metadata: { name: "{ns}-r" }, handler: "h" } },
      { post: {} },
      { post: { handler: "Bad_Name" } },
      { post: { handler: "h", overhead: { podFixed: { cpu: "-1" } } } },
      {
        post: {
          handler: "h",
          overhead: { podFixed: { cpu: "1" } },
          scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "a", operator: "Exists" }] },
        },
      },
      ...patches("{ns}-r", [{ handler: "other" }, { metadata: { labels: { a: "b" } } }]),
      { delete: "{ns}-r" },
    ],
  },
];
