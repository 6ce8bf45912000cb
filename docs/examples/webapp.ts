import { child, condition, controller, defineResource } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { z } from "zod";

export const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  spec: z.object({
    image: z.string().min(1).describe("Container image to run"),
    replicas: z.int32().min(0).max(100).default(1),
  }),
  status: z.object({ availableReplicas: z.int32().optional() }),
});

export const webapp = controller(WebApp, {
  owns: [Deployment, Service],
  reconcile: ({ metadata: { name }, spec: { image, replicas } }, { owned }) => {
    const available = owned(Deployment, name)?.status?.availableReplicas ?? 0;
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "app", image }] } };
    return {
      children: [
        child(Deployment, {
          metadata: { name },
          spec: { replicas, selector: { matchLabels: labels }, template },
        }),
        child(Service, { metadata: { name }, spec: { selector: labels, ports: [{ port: 80 }] } }),
      ],
      status: {
        availableReplicas: available,
        conditions: [condition("Ready", available === replicas, "ReplicasAvailable")],
      },
    };
  },
});
