import { type PolicyRule, type Resource, rbacFor } from "@windlass/runtime";
import type { Rendering } from "../rendering.ts";
import type { Component, Operator } from "../resolve.ts";
import { labelsOf } from "./labels.ts";

const group = "rbac.authorization.k8s.io";

/** Whether a component may do anything at all on the API server. */
export function hasRights(operator: Operator, component: Component): boolean {
  return rolesOf(operator, component, operator.namespace).length > 0;
}

/** Service accounts, and the roles that exactly suffice for what each component declares. */
export function accessObjects(operator: Operator, { namespace }: Rendering): readonly object[] {
  const { manager, components } = operator;
  return [
    ...[manager, ...components].flatMap((component) => {
      const labels = labelsOf(operator, component);
      const account = {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: component.name, namespace },
      };
      return [account, ...rolesOf(operator, component, namespace)].map((object) => ({
        ...object,
        metadata: { ...object.metadata, labels },
      }));
    }),
    ...userRoles(operator),
  ];
}

interface RbacObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function rolesOf(operator: Operator, component: Component, namespace: string): readonly RbacObject[] {
  const { manager, lease, webhooks, namespaces } = operator;
  const { name, controllers, clusterRules, namespaceRules } = component;
  const account = { name, namespace };
  const parts = component === manager && webhooks !== undefined ? [...controllers, webhooks] : controllers;
  return [
    ...rbacFor(parts, {
      name,
      serviceAccount: account,
      ...(namespaces === undefined ? {} : { namespaces }),
      ...(component === manager && lease !== undefined ? { leaderElection: { name: lease, namespace } } : {}),
    }),
    ...roleWithBinding(`${name}-additional`, clusterRules, account, undefined),
    ...roleWithBinding(`${name}-additional`, namespaceRules, account, namespace),
  ];
}

function roleWithBinding(
  name: string,
  rules: readonly PolicyRule[],
  account: { readonly name: string; readonly namespace: string },
  namespace: string | undefined,
): readonly RbacObject[] {
  if (rules.length === 0) return [];
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const apiVersion = `${group}/v1`;
  const role = { apiVersion, kind, metadata, rules };
  const binding = {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: group, kind, name },
    subjects: [{ kind: "ServiceAccount", ...account }],
  };
  return [role, binding];
}

const reads = ["get", "list", "watch"];
const writes = ["create", "update", "patch", "delete", "deletecollection"];

/** Roles for the operator's kinds, aggregated to `view`, `edit` and `admin` of a namespace. */
function userRoles(operator: Operator): readonly object[] {
  const { name, kinds, manager } = operator;
  // The roles that these are aggregated to are granted in namespaces: they must not hand out what
  // is the cluster's.
  const namespaced = kinds.filter(({ scope }) => scope === "Namespaced");
  if (namespaced.length === 0) return [];
  const labels = labelsOf(operator, manager);
  const role = (to: string, aggregates: readonly string[], verbs: readonly string[]) => ({
    apiVersion: `${group}/v1`,
    kind: "ClusterRole",
    metadata: {
      name: `${name}-${to}`,
      labels: {
        ...labels,
        ...Object.fromEntries(aggregates.map((one) => [`${group}/aggregate-to-${one}`, "true"])),
      },
    },
    rules: [...Map.groupBy(namespaced, (kind) => kind.group)].map(([apiGroup, some]) => ({
      apiGroups: [apiGroup],
      resources: some.flatMap(resourcesOf),
      verbs,
    })),
  });
  return [role("view", ["view"], reads), role("edit", ["edit", "admin"], [...reads, ...writes])];
}

function resourcesOf({ plural, definition }: Resource): readonly string[] {
  return definition.scale === undefined ? [plural] : [plural, `${plural}/scale`];
}
