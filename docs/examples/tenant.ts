import { child, condition, controller, defineResource } from "@windlass/runtime";
import { Namespace, ResourceQuota } from "@windlass/runtime/kinds";
import { z } from "zod";

/** A kind without namespaces. */
export const Tenant = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Tenant",
  scope: "Cluster",
  spec: z.object({ pods: z.int32().min(1).default(20).describe("The most pods that the tenant may run") }),
  status: z.object({ namespace: z.string().optional() }),
});

/** Gives each tenant a namespace, and a quota in it. */
export const tenant = controller(Tenant, {
  owns: [Namespace, ResourceQuota],
  reconcile: ({ metadata: { name }, spec: { pods } }) => {
    const namespace = `tenant-${name}`;
    const place = child(Namespace, { metadata: { name: namespace } });
    const quota = { metadata: { name: "tenant", namespace }, spec: { hard: { pods: String(pods) } } };
    return {
      children: [place, child(ResourceQuota, quota, { after: [place] })],
      status: { namespace, conditions: [condition("Ready", true, "Made")] },
    };
  },
});
