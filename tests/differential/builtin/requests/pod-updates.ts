import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Story } from "../story.ts";

const at = "/api/v1/namespaces/{ns}/pods";

export const podUpdates: Story[] = [
  {
    name: "pod update",
    at,
    steps: [
      {
        post: {
          metadata: { name: "u", labels: { a: "b" } },
          spec: {
            containers: [{ name: "c", image: "nginx:1" }],
            tolerations: [{ key: "x", operator: "Exists" }],
            activeDeadlineSeconds: 100,
          },
        },
      },
      ...patches("u", [
        { metadata: { labels: { a: "c" } } },
        { spec: { containers: [{ name: "c", image: "nginx:2" }] } },
        { spec: { containers: [{ name: "c", image: "" }] } },
        { spec: { nodeSelector: { a: "b" } } },
        { spec: { activeDeadlineSeconds: 50 } },
        { spec: { activeDeadlineSeconds: 200 } },
        { spec: { activeDeadlineSeconds: null } },
        { spec: { tolerations: [] } },
        { spec: { terminationGracePeriodSeconds: 5 } },
        { spec: { priority: 7 } },
        {
          spec: {
            containers: [
              { name: "c", image: "nginx:2" },
              { name: "d", image: "x" },
            ],
          },
        },
        { spec: { containers: [{ name: "d", image: "nginx:2" }] } },
        { spec: { schedulingGates: [{ name: "a/b" }] } },
        { spec: { serviceAccountName: "other" } },
        { spec: { hostname: "h" } },
        { spec: { containers: [{ name: "c", image: "nginx:2", resources: { limits: { cpu: "1" } } }] } },
        { status: { phase: "Running" } },
        { metadata: { finalizers: ["bad"] } },
        { metadata: { finalizers: ["a/b"] } },
        { metadata: { finalizers: null } },
      ]),
      {
        patch: { spec: { containers: [{ name: "c", image: "nginx:3" }] } },
        name: "u",
        type: "strategic",
      },
      {
        patch: { spec: { containers: [{ name: "c", image: "" }] } },
        name: "u",
        type: "strategic",
      },
      {
        patch: { spec: { tolerations: [{ key: "y", operator: "Exists" }] } },
        name: "u",
        type: "strategic",
      },
      {
        name: "u",
        edit: (pod) => {
          ((pod.spec as JsonObject).tolerations as JsonObject[]).push({ key: "new", operator: "Exists" });
        },
      },
      {
        name: "u",
        edit: (pod) => {
          (pod.metadata as JsonObject).uid = "other";
        },
      },
      {
        name: "u",
        edit: (pod) => {
          (pod.metadata as JsonObject).creationTimestamp = "2020-01-01T00:00:00Z";
        },
      },
      ...patches(
        "u",
        [
          {
            status: { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], hostIP: "10.0.0.9" },
          },
          { status: { conditions: [{ type: "Ready", status: "True" }] } },
          {
            status: {
              containerStatuses: [
                {
                  name: "c",
                  ready: true,
                  restartCount: 0,
                  image: "nginx:2",
                  imageID: "x",
                  state: { running: { startedAt: "2024-01-01T00:00:00Z" } },
                },
              ],
            },
          },
          { status: { phase: "Nope" } },
          { status: { podIP: "x", podIPs: [{ ip: "x" }] } },
          { status: { nominatedNodeName: "Bad_Name" } },
          { status: { qosClass: "Guaranteed" } },
          { metadata: { labels: { s: "t" }, annotations: { s: "t" } }, status: { message: "m" } },
          { spec: { nodeName: "zzz" }, status: { message: "n" } },
        ],
        "status",
      ),
      {
        post: {
          metadata: { name: "g" },
          spec: {
            containers: [{ name: "c", image: "x" }],
            schedulingGates: [{ name: "a/b" }, { name: "a/c" }],
          },
        },
      },
      ...patches("g", [
        { spec: { nodeSelector: { a: "b" } } },
        { spec: { nodeSelector: { a: "c" } } },
        { spec: { nodeSelector: { a: "b", d: "e" } } },
        { spec: { schedulingGates: [{ name: "a/b" }] } },
        { spec: { schedulingGates: [{ name: "a/z" }] } },
        { spec: { schedulingGates: null } },
        { spec: { nodeSelector: { f: "g" } } },
      ]),
      {
        name: "g",
        sub: "ephemeralcontainers",
        patch: { spec: { ephemeralContainers: [{ name: "dbg", image: "x" }] } },
        type: "strategic",
      },
      {
        name: "g",
        sub: "ephemeralcontainers",
        patch: { spec: { ephemeralContainers: [{ name: "c", image: "x" }] } },
        type: "strategic",
      },
      { name: "g", sub: "ephemeralcontainers", patch: { spec: { ephemeralContainers: [] } } },
      {
        name: "g",
        sub: "resize",
        patch: { spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] } },
        type: "strategic",
      },
      { name: "g", sub: "resize", patch: { spec: { nodeName: "x" } } },
      { delete: "g" },
      { delete: "u" },
    ],
  },
  {
    name: "pod placement",
    at,
    steps: [
      { post: { metadata: { name: "n" }, spec: { containers: [{ name: "c", image: "x" }] } } },
      ...patches("n", [{ spec: { nodeName: "n1" } }]),
      { delete: "n", body: { gracePeriodSeconds: 0 } },
    ],
  },
  {
    name: "pod template",
    at: "/api/v1/namespaces/{ns}/podtemplates",
    steps: [
      {
        post: {
          metadata: { name: "t" },
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }] },
          },
        },
      },
      { post: {} },
      { post: { template: { spec: { containers: [{ name: "c" }] } } } },
      ...patches("t", [
        { template: { spec: { containers: [{ name: "c", image: "other" }] } } },
        { template: { metadata: { labels: { "bad key": "x" } } } },
      ]),
      { delete: "t" },
    ],
  },
];
