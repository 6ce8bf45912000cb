/**
 * Records what a Kubernetes version puts into an empty cluster: RBAC's default roles and bindings,
 * priority classes, flow control. What others have added to the cluster is left out, as is all that
 * differs from one cluster to the next, so the same version gives the same bytes.
 *
 * node packages/control-plane/scripts/generate-bootstrap.ts --kubeconfig FILE [--output DIRECTORY]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { omit } from "../src/auth/object-identity.ts";
import { aggregatedRules } from "../src/auth/rules.ts";
import type { JsonObject } from "../src/json.ts";
import { openCluster } from "./generate/cluster.ts";

const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, output: { type: "string" } } });
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (!kubeconfig) {
  process.stdout.write("usage: generate-bootstrap.ts --kubeconfig FILE [--output DIRECTORY]\n");
  process.exit(1);
}
const output = values.output ?? join(import.meta.dirname, "../data");

using cluster = openCluster(kubeconfig);
const version = (await cluster.get("/version")) as { readonly gitVersion: string };

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const flowControl = "/apis/flowcontrol.apiserver.k8s.io/v1";
const isDefault = ({ metadata }: Item) =>
  metadata.labels?.["kubernetes.io/bootstrapping"] === "rbac-defaults";

const clusterRoles = await list(`${rbac}/clusterroles`, isDefault);
const bootstrap = {
  version: version.gitVersion,
  // A custom resource's own roles may have been aggregated into admin, edit and view; start again
  // from the defaults.
  clusterRoles: aggregateAll(clusterRoles),
  clusterRoleBindings: await list(`${rbac}/clusterrolebindings`, isDefault),
  roles: await list(`${rbac}/roles`, isDefault),
  roleBindings: await list(`${rbac}/rolebindings`, isDefault),
  priorityClasses: await list("/apis/scheduling.k8s.io/v1/priorityclasses", ({ metadata }) =>
    metadata.name.startsWith("system-"),
  ),
  priorityLevels: await list(`${flowControl}/prioritylevelconfigurations`, isAutomatic),
  flowSchemas: await list(`${flowControl}/flowschemas`, isAutomatic),
};
writeFileSync(join(output, "bootstrap-rbac.json.gz"), gzipSync(JSON.stringify(bootstrap), { level: 9 }));

interface Item extends JsonObject {
  metadata: { name: string; namespace?: string; labels?: Record<string, string> } & JsonObject;
}

function isAutomatic({ metadata }: Item): boolean {
  const annotations = metadata.annotations as Record<string, string> | undefined;
  return annotations?.["apf.kubernetes.io/autoupdate-spec"] !== undefined;
}

async function list(path: string, keep: (item: Item) => boolean): Promise<JsonObject[]> {
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
