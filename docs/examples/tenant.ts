import { child, condition, controller, defineResource } from "@windlass/runtime";
import { ClusterRole, Namespace, ResourceQuota, RoleBinding } from "@windlass/runtime/kinds";
import { z } from "zod";

/** A kind without namespaces. */
export const Tenant = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Tenant",
  scope: "Cluster",
  spec: z.object({
    pods: z.int32().min(1).default(20).describe("The most pods that the tenant may run"),
    admins: z.array(z.string().min(1)).default([]).describe("Users that may do anything in the namespace"),
  }),
  status: z.object({ namespace: z.string().optional() }),
});

/** Gives each tenant a namespace, with a quota and its administrators in it. */
export const tenant = controller(Tenant, {
  owns: [Namespace, ResourceQuota, RoleBinding],
  // Nobody may grant what he has not got himself, but for who may bind the role.
  permissions: [{ kind: ClusterRole, verbs: ["bind"] }],
  reconcile: ({ metadata: { name }, spec: { pods, admins } }) => {
    const namespace = `tenant-${name}`;
    const place = child(Namespace, { metadata: { name: namespace } });
    const quota = { metadata: { name: "tenant", namespace }, spec: { hard: { pods: String(pods) } } };
    const binding = {
      metadata: { name: "tenant-admins", namespace },
      roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name: "admin" },
      subjects: admins.map((user) => ({ apiGroup: ClusterRole.group, kind: "User", name: user })),
    };
    return {
      children: [
        place,
        child(ResourceQuota, quota, { after: [place] }),
        // A binding's role cannot be changed.
        child(RoleBinding, binding, { after: [place], onImmutable: "replace" }),
      ],
      status: { namespace, conditions: [condition("Ready", true, "Made")] },
    };
  },
});
