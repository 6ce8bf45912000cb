import type { Json } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Step, type Story } from "../story.ts";

const maps = "/api/v1/namespaces/{ns}/configmaps";
const classes = "/apis/node.k8s.io/v1/runtimeclasses";
const time = "2024-01-01T00:00:00Z";
const map = (name: string, metadata: Json) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(metadata as object) },
});
const apply = (name: string, metadata: Json): Step => ({ patch: map(name, metadata), name, type: "apply" });
const overhead = (resource: string, amount: Json): Step => ({
  post: { handler: "x", overhead: { podFixed: { [resource]: amount } } },
});

const pages = (resources: Json): Step => ({
  post: { spec: { containers: [{ name: "c", image: "i", resources }] } },
});

/** What was once answered differently, and belongs to no kind in particular. */
export const corners: readonly Story[] = [
  {
    name: "ingress generations",
    at: "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
    steps: [
      {
        post: {
          metadata: { name: "i" },
          spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
        },
      },
      ...patches("i", [{ spec: { rules: [] } }, { spec: { tls: [] } }, { spec: { rules: null } }]),
    ],
  },
  {
    name: "applied server fields",
    at: maps,
    steps: [
      apply("deleting", { deletionTimestamp: time }),
      apply("graceful", { deletionTimestamp: time, deletionGracePeriodSeconds: 5 }),
      apply("created", { creationTimestamp: time }),
      apply("generation", { generation: 7 }),
      apply("self", { selfLink: "/x" }),
      apply("owned", { deletionTimestamp: null, creationTimestamp: null }),
      { get: "deleting" },
      apply("deleting", { deletionTimestamp: "2024-01-02T00:00:00Z" }),
      apply("deleting", {}),
      { post: map("posted", { deletionTimestamp: time, deletionGracePeriodSeconds: 5 }) },
    ],
  },
  {
    name: "huge pages",
    at: "/api/v1/namespaces/{ns}/pods",
    steps: [
      pages({ limits: { "hugepages-2Mi": "4Mi", memory: "1Gi" } }),
      pages({ limits: { "hugepages-2Mi": "3Mi", memory: "1Gi" } }),
      pages({ limits: { "hugepages-2Mi": "4Mi" } }),
      pages({ requests: { "hugepages-2Mi": "3Mi", memory: "1Gi" } }),
      pages({ requests: { "hugepages-2Mi": "3Mi" }, limits: { "hugepages-2Mi": "3Mi", cpu: "1" } }),
    ],
  },
  {
    name: "put server fields",
    at: "/api/v1/namespaces/{ns}/endpoints",
    steps: [
      { put: { metadata: { name: "e", deletionTimestamp: time, deletionGracePeriodSeconds: 5 } }, name: "e" },
      { get: "e" },
      { put: { metadata: { name: "e", labels: { a: "b" } } }, name: "e" },
      { get: "e" },
    ],
  },
  {
    name: "overhead amounts",
    at: classes,
    steps: [
      overhead("cpu", "100m"),
      overhead("cpu", "-1"),
      overhead("memory", "1.5"),
      overhead("example.com/gpu", "1"),
      overhead("example.com/gpu", "1500m"),
      overhead("example.com/gpu", "0.5"),
      overhead("hugepages-2Mi", "1500m"),
      overhead("hugepages-2Mi", "3Mi"),
      overhead("nope", "1"),
      overhead("Bad_Name!", "1"),
    ],
  },
];
