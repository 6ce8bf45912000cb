import { uuid } from "@windlass/clock";
import { readBootstrap, systemNamespaces } from "./auth/index.ts";
import { type JsonObject, textOf } from "./json.ts";
import { metadataOf } from "./json-fields.ts";
import { timestamp } from "./registry/metadata.ts";
import type { Registry, RequestContext } from "./registry/registry.ts";
import type { Resource } from "./registry/resource.ts";
import { storageKey } from "./storage/store.ts";

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
    registry.resource(group, version, plural);
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

/**
 * Stores where cluster addresses come from. Once that is final: nodes of real processes
 * choose it.
 *
 * @param finalizers what the controllers beside the server guard it with
 */
export function bootstrapServiceRange(registry: Registry, finalizers: readonly string[]): void {
  const { clock } = registry;
  const time = timestamp(clock);
  const ready = {
    type: "Ready",
    status: "True",
    lastTransitionTime: time,
    reason: "",
    message: "Kubernetes default Service CIDR is ready",
  };
  const written = { apiVersion: "networking.k8s.io/v1", time, fieldsType: "FieldsV1" };
  put(registry, registry.resource("networking.k8s.io", "v1", "servicecidrs"), {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: {
      name: "kubernetes",
      ...(finalizers.length === 0 ? {} : { finalizers: [...finalizers] }),
      managedFields: [
        {
          ...written,
          manager: "kube-apiserver",
          operation: "Update",
          fieldsV1: { "f:spec": { "f:cidrs": {} } },
        },
        {
          ...written,
          manager: "kubernetes-service-cidr-controller",
          operation: "Apply",
          subresource: "status",
          fieldsV1: {
            "f:status": {
              "f:conditions": {
                'k:{"type":"Ready"}': {
                  ".": {},
                  "f:lastTransitionTime": {},
                  "f:message": {},
                  "f:status": {},
                  "f:type": {},
                },
              },
            },
          },
        },
      ],
    },
    spec: { cidrs: [registry.network.range.cidr] },
    status: { conditions: [ready] },
  });
}

/** @param resource undefined for what is not served */
function put(registry: Registry, resource: Resource | undefined, object: JsonObject): void {
  if (!resource) return;
  const { store, clock, random } = registry;
  const metadata = metadataOf(object);
  const key = storageKey(metadata.namespace as string | undefined, textOf(metadata.name));
  if (store.get(resource.bucket, key)) return;
  const identity = { uid: uuid(random), creationTimestamp: timestamp(clock) };
  const generation = resource.strategy.generation ? { generation: 1 } : {};
  store.put(resource.bucket, key, { ...object, metadata: { ...metadata, ...identity, ...generation } });
}
