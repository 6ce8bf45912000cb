import { uuid } from "@windlass/clock";
import { readBootstrap, systemNamespaces } from "./auth/index.ts";
import { type JsonObject, textOf } from "./json.ts";
import { timestamp } from "./registry/metadata.ts";
import type { Registry, RequestContext } from "./registry/registry.ts";
import type { Resource } from "./registry/resource.ts";
import { serviceRange } from "./registry/strategies/service-allocation.ts";
import { keyOf } from "./storage/store.ts";

/** The server writing for itself. */
export const systemContext: RequestContext = {
  user: { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] },
  fieldManager: "kube-apiserver",
  dryRun: false,
  warn: () => undefined,
};

/** Stores what an empty cluster starts with. Leaves alone what is there already. */
export function bootstrap(registry: Registry): void {
  const resource = (group: string, version: string, plural: string) =>
    registry.resource(group, version, plural) as Resource;
  const rbac = (plural: string) => resource("rbac.authorization.k8s.io", "v1", plural);
  const namespaces = resource("", "v1", "namespaces");
  for (const name of systemNamespaces) {
    put(registry, namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  }
  const recorded = readBootstrap();
  for (const [plural, objects] of [
    ["clusterroles", recorded.clusterRoles],
    ["clusterrolebindings", recorded.clusterRoleBindings],
    ["roles", recorded.roles],
    ["rolebindings", recorded.roleBindings],
  ] as const) {
    for (const object of objects) put(registry, rbac(plural), object);
  }
  const classes = resource("scheduling.k8s.io", "v1", "priorityclasses");
  for (const object of recorded.priorityClasses) put(registry, classes, object);
  const flow = (plural: string) => resource("flowcontrol.apiserver.k8s.io", "v1", plural);
  for (const object of recorded.priorityLevels) put(registry, flow("prioritylevelconfigurations"), object);
  for (const object of recorded.flowSchemas) put(registry, flow("flowschemas"), object);
}

/** Stores where cluster addresses come from. Once that is known for good: nodes of real processes choose it. */
export function bootstrapServiceRange(registry: Registry): void {
  const { store, clock } = registry;
  const ready = {
    type: "Ready",
    status: "True",
    lastTransitionTime: timestamp(clock),
    reason: "",
    message: "Kubernetes Service CIDR is ready",
  };
  put(registry, registry.resource("networking.k8s.io", "v1", "servicecidrs") as Resource, {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes", finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
    spec: { cidrs: [`${serviceRange(store).prefix}.0.0/16`] },
    status: { conditions: [ready] },
  });
}

function put(registry: Registry, resource: Resource, object: JsonObject): void {
  const { store, clock, random } = registry;
  const metadata = object.metadata as JsonObject;
  const key = keyOf(metadata.namespace as string | undefined, textOf(metadata.name));
  if (store.get(resource.bucket, key)) return;
  const identity = { uid: uuid(random), creationTimestamp: timestamp(clock) };
  const generation = resource.strategy.generation ? { generation: 1 } : {};
  store.put(resource.bucket, key, { ...object, metadata: { ...metadata, ...identity, ...generation } });
}
