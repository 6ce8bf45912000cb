import { child, condition, controller, defineResource } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { z } from "zod";

/**
 * A kind with children, a status and a finalizer: the smallest operator that uses all of them. For
 * tests.
 */
export const Site = defineResource({
  group: "testing.windlass.dev",
  version: "v1",
  kind: "Site",
  spec: z.object({ image: z.string().min(1), replicas: z.int32().min(0).default(1) }),
  status: z.object({ available: z.int32().optional() }),
});

export const site = controller(Site, {
  owns: [Deployment, Service],
  concurrency: 4,
  reconcile({ metadata: { name }, spec }, { owned }) {
    const available = owned(Deployment, name)?.status?.availableReplicas ?? 0;
    const isReady = available === spec.replicas;
    const labels = { app: name };
    return {
      children: [
        child(Deployment, {
          metadata: { name },
          spec: {
            replicas: spec.replicas,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "web", image: spec.image }] } },
          },
        }),
        child(Service, { metadata: { name }, spec: { selector: labels, ports: [{ port: 80 }] } }),
      ],
      status: { available, conditions: [condition("Ready", isReady, "ReplicasAvailable")] },
      events: isReady ? [{ reason: "Ready", message: `${available} pods serve` }] : [],
    };
  },
  finalize: () => undefined,
});
