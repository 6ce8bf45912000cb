import type { RecordedBootstrap } from "@windlass/kinds/recorded";
import { omit } from "../../packages/control-plane/src/auth/object-identity.ts";
import { aggregatedRules } from "../../packages/control-plane/src/auth/rules.ts";
import type { JsonObject } from "../../packages/control-plane/src/json.ts";
import type { Cluster } from "./cluster.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const flowControl = "/apis/flowcontrol.apiserver.k8s.io/v1";

/**
 * What a Kubernetes version puts into an empty cluster: RBAC's default roles and bindings, priority
 * classes, flow control. What others have added to the cluster is left out, as is all that differs
 * from one cluster to the next, so the same version gives the same bytes.
 */
export async function recordBootstrap(cluster: Cluster, version: string): Promise<RecordedBootstrap> {
  return {
    version,
    // A custom resource's own roles may have been aggregated into admin, edit and view; start again
    // from the defaults.
    clusterRoles: aggregateAll(await list(cluster, `${rbac}/clusterroles`, isDefault)),
    clusterRoleBindings: await list(cluster, `${rbac}/clusterrolebindings`, isDefault),
    roles: await list(cluster, `${rbac}/roles`, isDefault),
    roleBindings: await list(cluster, `${rbac}/rolebindings`, isDefault),
    priorityClasses: await list(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses", ({ metadata }) =>
      metadata.name.startsWith("system-"),
    ),
    priorityLevels: await list(cluster, `${flowControl}/prioritylevelconfigurations`, isAutomatic),
    flowSchemas: await list(cluster, `${flowControl}/flowschemas`, isAutomatic),
  };
}

interface Item extends JsonObject {
  metadata: { name: string; namespace?: string; labels?: Record<string, string> } & JsonObject;
}

function isDefault({ metadata }: Item): boolean {
  return metadata.labels?.["kubernetes.io/bootstrapping"] === "rbac-defaults";
}

function isAutomatic({ metadata }: Item): boolean {
  const annotations = metadata.annotations as Record<string, string> | undefined;
  return annotations?.["apf.kubernetes.io/autoupdate-spec"] !== undefined;
}

async function list(cluster: Cluster, path: string, keep: (item: Item) => boolean): Promise<JsonObject[]> {
  const answer = (await cluster.get(path)) as { kind: string; apiVersion: string; items: Item[] };
  return answer.items
    .filter(keep)
    .map((item) => ({
      kind: answer.kind.replace(/List$/, ""),
      apiVersion: answer.apiVersion,
      ...withoutHistory(item),
    }))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * What a cluster adds to an object when it stores it, and what its controllers have since observed.
 */
function withoutHistory(item: Item): JsonObject {
  const history = ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"];
  return { ...omit(item, "status"), metadata: omit(item.metadata, ...history) };
}

function key(object: JsonObject): string {
  const { namespace = "", name } = (object as Item).metadata;
  return `${namespace}/${name}`;
}

/** Aggregates until nothing changes: `admin` gathers from `edit`, which gathers from `view`. */
function aggregateAll(roles: JsonObject[]): JsonObject[] {
  const next = roles.map((role) => {
    const rules = aggregatedRules(role, roles);
    return rules ? { ...role, rules } : role;
  });
  return JSON.stringify(next) === JSON.stringify(roles) ? roles : aggregateAll(next);
}
