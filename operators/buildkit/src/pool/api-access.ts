import { child, type PolicyRule } from "@windlass/runtime";
import { ConfigMap, Role, RoleBinding } from "@windlass/runtime/kinds";
import { managedByLabel } from "../credentials.ts";
import { apiName, poolLabel, poolNames } from "../names.ts";
import type { Pool } from "./pool.ts";

/**
 * What the operator must have itself in order to grant it. The rest it has for the sake of what it
 * makes.
 */
export const grantedPermissions = [{ kind: ConfigMap, verbs: ["update"] }];

/**
 * What the allocation API may do for a pool. It is reached over the network, so that it has no
 * right to Secrets and ConfigMaps but where there are pools, and of Secrets to those alone that its
 * pools name.
 *
 * @param operatorNamespace Where the API runs.
 */
export function apiAccess(pool: Pool, operatorNamespace: string) {
  const { name } = pool.metadata;
  const metadata = { name: poolNames(name).apiRole, labels: { ...managedByLabel, [poolLabel]: name } };
  const account = { kind: "ServiceAccount", name: apiName, namespace: operatorNamespace };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name };
  const role = child(Role, { metadata, rules: apiRulesFor(pool) });
  // Only who may do all of it may bind a role, so a server refuses to bind one that it does not
  // know.
  const options = { onImmutable: "replace", after: [role] } as const;
  return [role, child(RoleBinding, { metadata, roleRef, subjects: [account] }, options)];
}

function apiRulesFor({ metadata: { name }, spec }: Pool): PolicyRule[] {
  const { tlsSecret, tokenKeysSecret, revocations } = poolNames(name);
  const tokens = spec.auth.methods.flatMap(({ token }) => token?.secretRef ?? []);
  return [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [tlsSecret, tokenKeysSecret, ...tokens],
      verbs: ["get"],
    },
    { apiGroups: [""], resources: ["configmaps"], resourceNames: [revocations], verbs: ["get", "update"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
  ];
}
