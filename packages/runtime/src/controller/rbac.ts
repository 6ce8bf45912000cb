import type { AnyKind } from "@windlass/client";
import { type Controller, isController } from "./controller.ts";
import { type ControllerSettings, settings } from "./settings.ts";

/** One rule of a role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface RoleMeta {
  readonly name: string;
  readonly namespace?: string;
}

/** A Role or ClusterRole, ready to be applied. */
export interface RoleObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role" | "ClusterRole";
  readonly metadata: RoleMeta;
  readonly rules: readonly PolicyRule[];
}

/** Binds a role to the operator's service account. */
export interface RoleBindingObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  readonly metadata: RoleMeta;
  readonly roleRef: {
    readonly apiGroup: "rbac.authorization.k8s.io";
    readonly kind: "Role" | "ClusterRole";
    readonly name: string;
  };
  readonly subjects: readonly [
    { readonly kind: "ServiceAccount"; readonly name: string; readonly namespace: string },
  ];
}

/** Something besides controllers that needs rights of its own, such as a webhook server. */
export interface RoleContribution {
  readonly clusterRules: readonly PolicyRule[];
  /** In the operator's own namespace. */
  readonly namespaceRules: readonly PolicyRule[];
}

export interface RbacOptions {
  /** The name of the roles; the operator's. */
  readonly name: string;
  /** Roles in these namespaces instead of one for the cluster. Must be the manager's `namespaces`. @default the whole cluster */
  readonly namespaces?: readonly string[];
  /** Rights on the lease. Must be the manager's `leaderElection`. @default none */
  readonly leaderElection?: { readonly name: string; readonly namespace: string };
  /** The operator's own. @default the service account's, else the lease's */
  readonly namespace?: string;
  /** Also bind the roles to it. @default no bindings */
  readonly serviceAccount?: { readonly name: string; readonly namespace: string };
}

/**
 * The roles that exactly suffice to run these controllers and webhook servers: read what is watched, write what is owned, and of the own kind only status and
 * (with `finalize`) metadata. Rights that imperative code needs besides are declared with the controller's `permissions`.
 *
 * @example
 * const roles = rbacFor([webapp], { name: "webapp-operator", leaderElection: { name: "webapp-operator", namespace: "webapp-system" } });
 */
export function rbacFor(
  parts: readonly (Controller | RoleContribution)[],
  options: RbacOptions,
): readonly (RoleObject | RoleBindingObject)[] {
  const { name, namespaces, leaderElection, serviceAccount } = options;
  const contributions = parts.filter((part): part is RoleContribution => !isController(part));
  const grants = parts.filter(isController).flatMap((one) => grantsOf(one[settings]));
  const inNamespaces = namespaces === undefined ? [] : grants.filter((one) => one.scope === "Namespaced");
  const inCluster = namespaces === undefined ? grants : grants.filter((one) => one.scope === "Cluster");
  const roles: RoleObject[] = [];
  if (inCluster.length > 0) roles.push(role(undefined, name, merged(inCluster)));
  for (const namespace of namespaces ?? []) roles.push(role(namespace, name, merged(inNamespaces)));
  if (leaderElection)
    roles.push(role(leaderElection.namespace, `${name}-leader-election`, leaseRules(leaderElection.name)));
  roles.push(...contributedRoles(contributions, options));
  if (!serviceAccount) return roles;
  return roles.flatMap((one) => [one, binding(one, serviceAccount)]);
}

function contributedRoles(
  contributions: readonly RoleContribution[],
  { name, namespace, serviceAccount, leaderElection }: RbacOptions,
): readonly RoleObject[] {
  const clusterRules = contributions.flatMap((one) => one.clusterRules);
  const namespaceRules = contributions.flatMap((one) => one.namespaceRules);
  const own = namespace ?? serviceAccount?.namespace ?? leaderElection?.namespace;
  if (namespaceRules.length > 0 && own === undefined)
    throw new TypeError(
      "rbacFor: webhooks need rights in the operator's own namespace; say which, with namespace",
    );
  return [
    ...(clusterRules.length === 0 ? [] : [role(undefined, `${name}-webhook`, clusterRules)]),
    ...(namespaceRules.length === 0 ? [] : [role(own, `${name}-webhook`, namespaceRules)]),
  ];
}

/** A verb on a resource. */
interface Grant {
  readonly group: string;
  readonly resource: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly verb: string;
}

function grantsOf(controller: ControllerSettings): readonly Grant[] {
  const { kind, owns, watches, reads, permissions, finalize, mayWriteStatus } = controller;
  const read = ["get", "list", "watch"];
  return [
    ...grants(kind, finalize ? [...read, "patch"] : read),
    ...(mayWriteStatus ? grants(kind, ["patch"], "status") : []),
    // Owner references that block deletion need this where the admission plugin OwnerReferencesPermissionEnforcement is on.
    ...(owns.length > 0 ? grants(kind, ["update"], "finalizers") : []),
    ...owns.flatMap((one) => grants(one.kind, [...read, "create", "patch", "delete"])),
    ...watches.flatMap((one) => grants(one.kind, read)),
    ...reads.flatMap((one) => grants(one, read)),
    ...permissions.flatMap((one) =>
      (one.subresources ?? [undefined]).flatMap((subresource) => grants(one.kind, one.verbs, subresource)),
    ),
    ...grants({ group: "events.k8s.io", plural: "events", scope: "Namespaced" }, ["create", "patch"]),
  ];
}

function grants(
  kind: Pick<AnyKind, "group" | "plural" | "scope">,
  verbs: readonly string[],
  subresource?: string,
): readonly Grant[] {
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  return verbs.map((verb) => ({ group: kind.group, resource, scope: kind.scope, verb }));
}

const verbOrder = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** As few rules as say the same: resources of a group with the same verbs share one. */
function merged(all: readonly Grant[]): readonly PolicyRule[] {
  const verbs = Map.groupBy(all, ({ group, resource }) => `${group} ${resource}`);
  const resources = [...verbs.values()].map((some) => ({
    group: some[0]?.group ?? "",
    resource: some[0]?.resource ?? "",
    verbs: [...new Set(some.map((one) => one.verb))].toSorted(byVerb),
  }));
  return [...Map.groupBy(resources, (one) => `${one.group} ${one.verbs.join()}`).values()]
    .map((some) => ({
      apiGroups: [some[0]?.group ?? ""],
      resources: some.map((one) => one.resource).toSorted(byText),
      verbs: some[0]?.verbs ?? [],
    }))
    .toSorted((a, b) => byText(`${a.apiGroups[0]} ${a.resources[0]}`, `${b.apiGroups[0]} ${b.resources[0]}`));
}

function byVerb(a: string, b: string): number {
  const [left, right] = [verbOrder.indexOf(a), verbOrder.indexOf(b)];
  return left === right
    ? byText(a, b)
    : (left < 0 ? verbOrder.length : left) - (right < 0 ? verbOrder.length : right);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A create cannot be limited to a name: the server does not know it when it decides. */
function leaseRules(lease: string): readonly PolicyRule[] {
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  return [
    { ...leases, verbs: ["create"] },
    { ...leases, verbs: ["get", "update"], resourceNames: [lease] },
  ];
}

function role(namespace: string | undefined, name: string, rules: readonly PolicyRule[]): RoleObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: namespace === undefined ? "ClusterRole" : "Role",
    metadata: namespace === undefined ? { name } : { name, namespace },
    rules,
  };
}

function binding(
  bound: RoleObject,
  account: { readonly name: string; readonly namespace: string },
): RoleBindingObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: bound.kind === "Role" ? "RoleBinding" : "ClusterRoleBinding",
    metadata: bound.metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: bound.kind, name: bound.metadata.name },
    subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
  };
}
