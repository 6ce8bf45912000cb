import type { AnyKind } from "@windlass/client";
import type { ManagerOptions } from "../manager/options.ts";
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

/** What the generated roles are for. */
export interface RbacOptions {
  /** The name of the roles; the operator's. */
  readonly name: string;
  /**
   * Must be the manager's `namespaces`. By name: roles in these instead of one for the cluster. By
   * label: the right to watch namespaces as well; for them, as for a set that the program changes,
   * a role for the cluster, for they may come to be any. @default the whole cluster
   */
  readonly namespaces?: ManagerOptions["namespaces"];
  /** Rights on the lease. Must be the manager's `leaderElection`. @default none */
  readonly leaderElection?: { readonly name: string; readonly namespace: string };
  /** The operator's own. @default the service account's, else the lease's */
  readonly namespace?: string;
  /** Also bind the roles to it. @default no bindings */
  readonly serviceAccount?: { readonly name: string; readonly namespace: string };
}

/**
 * The roles that exactly suffice to run these controllers and webhook servers: read what is
 * watched, write what is owned, and of the own kind only status and (with `finalize`) metadata.
 * Rights that imperative code needs besides are declared with the controller's `permissions`.
 *
 * @example
 * const roles = rbacFor([webapp], { name: "webapp-operator", leaderElection: { name: "webapp-operator", namespace: "webapp-system" } });
 */
export function rbacFor(
  parts: readonly (Controller | RoleContribution)[],
  options: RbacOptions,
): readonly (RoleObject | RoleBindingObject)[] {
  const { name, leaderElection, serviceAccount } = options;
  const namespaces = isByName(options.namespaces) ? options.namespaces : undefined;
  const contributions = parts.filter((part): part is RoleContribution => !isController(part));
  const controllers = parts.filter(isController).map((one) => one[settings]);
  const all = [...controllers.flatMap(grantsOf), ...grantsToChoose(options.namespaces)];
  const inNamespaces = namespaces === undefined ? [] : all.filter((one) => one.scope === "Namespaced");
  const inCluster = namespaces === undefined ? all : all.filter((one) => one.scope === "Cluster");
  const roles: RoleObject[] = [];
  if (inCluster.length > 0) roles.push(role(undefined, name, merged(inCluster)));
  for (const namespace of namespaces ?? []) roles.push(role(namespace, name, merged(inNamespaces)));
  if (leaderElection)
    roles.push(role(leaderElection.namespace, `${name}-leader-election`, leaseRules(leaderElection.name)));
  roles.push(...contributedRoles(contributions, options));
  if (!serviceAccount) return roles;
  return roles.flatMap((one) => [one, binding(one, serviceAccount)]);
}

function isByName(namespaces: RbacOptions["namespaces"]): namespaces is readonly string[] {
  return Array.isArray(namespaces);
}

/** What it takes to know which namespaces carry a label. */
function grantsToChoose(namespaces: RbacOptions["namespaces"]): readonly Grant[] {
  if (namespaces === undefined || isByName(namespaces) || !("labelSelector" in namespaces)) return [];
  return grants({ group: "", plural: "namespaces", scope: "Cluster" }, looks);
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

const looks = ["get", "list", "watch"];

function grantsOf(controller: ControllerSettings): readonly Grant[] {
  const { kind, owns, watches, reads, follows, permissions, finalize, mayWriteStatus } = controller;
  return [
    ...grants(kind, finalize ? [...looks, "patch"] : looks),
    ...(mayWriteStatus ? grants(kind, ["patch"], "status") : []),
    // Owner references that block deletion need this where the admission plugin
    // OwnerReferencesPermissionEnforcement is on.
    ...(owns.length > 0 ? grants(kind, ["update"], "finalizers") : []),
    ...owns.flatMap((one) => grants(one.kind, [...looks, "create", "patch", "delete"])),
    ...watches.flatMap((one) => grants(one.kind, looks)),
    ...[...reads, ...follows].flatMap((one) => grants(one, looks)),
    ...permissions.flatMap((one) =>
      (one.subresources ?? [undefined]).flatMap((subresource) => grants(one.kind, one.verbs, subresource)),
    ),
    ...grants({ group: "events.k8s.io", plural: "events", scope: "Namespaced" }, ["create", "patch"]),
  ];
}

/** Whether the role of a controller lets it watch a kind. */
export function mayWatch(controller: ControllerSettings, { group, plural }: AnyKind): boolean {
  const verbs = grantsOf(controller)
    .filter((one) => one.group === group && one.resource === plural)
    .map(({ verb }) => verb);
  return ["list", "watch"].every((verb) => verbs.includes(verb));
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
