import type { RoleContribution } from "@windlass/runtime";
import { group } from "../fields.ts";
import { apiTrustName, clusterSecrets } from "../names.ts";

/**
 * The rights that the allocation API needs wherever it runs. What it needs of a pool's Secrets and
 * in its namespace, it is given by the pool's own role: `apiAccess`.
 */
export const apiRights: RoleContribution = {
  clusterRules: [
    { apiGroups: [group], resources: ["buildkitpools"], verbs: ["get", "list", "watch"] },
    { apiGroups: [group], resources: ["buildkitworkers"], verbs: ["get", "list", "watch", "update"] },
    {
      apiGroups: [group],
      resources: ["buildkitrequests"],
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  ],
  namespaceRules: [
    { apiGroups: [group], resources: ["buildkitoidcconfigs"], verbs: ["get", "list", "watch"] },
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [clusterSecrets.clientAuthorities],
      verbs: ["get"],
    },
    { apiGroups: [""], resources: ["configmaps"], resourceNames: [apiTrustName], verbs: ["get", "update"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
  ],
};
