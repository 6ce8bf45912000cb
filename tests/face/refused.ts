import type { Client } from "@windlass/client";
import type { ControlPlane } from "@windlass/control-plane";
import {
  allOf,
  byLabel,
  byOwner,
  byReference,
  type Child,
  type ContextOf,
  child,
  condition,
  controller,
  declaration,
  defineResource,
  duration,
  every,
  type FinalizeOf,
  indexed,
  isReady,
  manager,
  metadataOnly,
  type ObjectOf,
  type Predicate,
  type ReconcileOf,
  type Registry,
  rbacFor,
  watch,
  webhookServer,
} from "@windlass/runtime";
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Job,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
} from "@windlass/runtime/kinds";
import { existing, testReconcile } from "@windlass/runtime/testing";
import { waitFor, waitForCondition } from "@windlass/testing";
import { z } from "zod";
import { Region, Shop } from "./kinds.ts";

const metadata = { name: "web" };
const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
const deployment = { metadata, spec: { selector: { matchLabels: labels }, template } };

// What the compiler refuses, each with a part of what it says: `messages.test.ts` compares.

/** Children that are no objects of their kind. */
export const children = [
  // @ts-expect-error 'dada' does not exist in type 'ConfigMapInput & UnknownField<"dada">'.
  child(ConfigMap, { metadata, dada: { a: "b" } }),
  // @ts-expect-error Type 'number' is not assignable to type 'string'.
  child(ConfigMap, { metadata, data: { a: 1 } }),
  // @ts-expect-error 'nam' does not exist in type 'NamedMetaInput'. Did you mean to write 'name'?
  child(ConfigMap, { metadata: { nam: "web" } }),
  // @ts-expect-error Property 'metadata' is missing in type '{}' but required in type
  child(ConfigMap, {}),
  // @ts-expect-error Type '"Secret"' is not assignable to type '"ConfigMap"'.
  child(ConfigMap, { kind: "Secret", metadata }),
  // @ts-expect-error Property 'template' is missing in type '{ selector: { matchLabels: { app:
  child(Deployment, { metadata, spec: { selector: { matchLabels: labels } } }),
  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  child(Deployment, { metadata, spec: { replicas: "3", selector: { matchLabels: labels }, template } }),
  // @ts-expect-error Type '{ app: string; }' has no properties in common with type 'LabelSelectorInput'.
  child(Deployment, { metadata, spec: { selector: labels, template } }),
  child(Deployment, {
    metadata,
    spec: {
      selector: { matchLabels: labels },
      // @ts-expect-error 'img' does not exist in type 'ContainerInput'.
      template: { spec: { containers: [{ name: "web", img: "nginx" }] } },
    },
  }),
  child(Deployment, {
    metadata,
    spec: {
      selector: { matchLabels: labels },
      // @ts-expect-error Property 'name' is missing in type '{ image: string; }' but required in
      template: { spec: { containers: [{ image: "nginx" }] } },
    },
  }),
  child(Deployment, {
    metadata,
    spec: {
      selector: { matchLabels: labels },
      // @ts-expect-error Type 'number' is not assignable to type 'string'.
      template: { spec: { containers: [{ name: "web", env: [{ name: "A", value: 1 }] }] } },
    },
  }),
  child(Deployment, {
    metadata,
    spec: {
      selector: { matchLabels: labels },
      // @ts-expect-error Type 'string' is not assignable to type 'number'.
      template: { spec: { containers: [{ name: "web", ports: [{ containerPort: "80" }] }] } },
    },
  }),
  // @ts-expect-error 'target' does not exist in type 'ServicePortInput'.
  child(Service, { metadata, spec: { ports: [{ port: 80, target: 8080 }] } }),
  // @ts-expect-error 'port' does not exist in type 'readonly ServicePortInput[]'.
  child(Service, { metadata, spec: { ports: { port: 80 } } }),
  // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
  child(Namespace, { metadata: { name: "web", namespace: "default" } }),
  // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
  child(ClusterRole, { metadata: { name: "web", namespace: "default" }, rules: [] }),
  // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
  child(Region, { metadata: { name: "web", namespace: "default" }, spec: {} }),
  // @ts-expect-error Property 'image' is missing in type '{}' but required in type '{ readonly
  child(Shop, { metadata, spec: {} }),
  // @ts-expect-error 'replica' does not exist in type '{ readonly image: string; readonly
  child(Shop, { metadata, spec: { image: "a", replica: 2 } }),
  // @ts-expect-error Property 'name' is missing in type '{ port: number; }' but required in type
  child(Shop, { metadata, spec: { image: "a", ports: [{ port: 80 }] } }),
  // @ts-expect-error Type '"Redy"' is not assignable to type '"Ready" | "Waiting" | undefined'.
  child(Shop, { metadata, spec: { image: "a" }, status: { phase: "Redy" } }),
  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'AnyKind'.
  child("ConfigMap", { metadata }),
  // @ts-expect-error Argument of type '{ metadata: { name: string; }; }' is not assignable to
  child(metadataOnly(ConfigMap), { metadata }),
];

/** Children that a variable, a condition or a function put together. */
declare const isLarge: boolean;
const misspelt = {
  metadata: { labels },
  spec: { containers: [{ name: "web", imagePullPolcy: "Always" }] },
};
const misnamed = { label: labels };
const portsOf = (numbers: readonly number[]) => numbers.map((port) => ({ port, target: port }));
const shopOf = (name: string) => ({ metadata: { name }, spec: { image: "a", replica: 2 } });
const widened = { spec: { containers: [], restartPolicy: "Never" } };
export const composed = [
  // @ts-expect-error Property '"unknown field: spec.template.spec.containers[].imagePullPolcy"' is missing in type
  child(Deployment, { metadata, spec: { selector: { matchLabels: labels }, template: misspelt } }),
  // @ts-expect-error Property '"unknown field: spec.replicaz"' is missing in type
  child(Deployment, { metadata, spec: { selector: {}, template, ...(isLarge && { replicaz: 3 }) } }),
  // @ts-expect-error Property '"unknown field: spec.ports[].target"' is missing in type
  child(Service, { metadata, spec: { ports: portsOf([80]) } }),
  // @ts-expect-error Property '"unknown field: spec.ports[].target"' is missing in type
  child(Service, { metadata, spec: { ports: [80].map((port) => ({ port, target: port })) } }),
  // @ts-expect-error is not assignable to parameter of type 'ConfigMapInput & UnknownField<"metadata.label">'
  child(ConfigMap, { metadata: { ...metadata, ...misnamed } }),
  // @ts-expect-error Property '"unknown field: spec.replica"' is missing in type
  child(Shop, shopOf("web")),
  // @ts-expect-error Type 'string' is not assignable to type '"Always" | "Never" | "OnFailure" | undefined'.
  child(Job, { metadata, spec: { template: widened } }),
  // @ts-expect-error Type 'string' is not assignable to type '"SCTP" | "TCP" | "UDP" | undefined'.
  child(Service, { metadata, spec: { ports: [80].map((port) => ({ port, protocol: "TCP" })) } }),
];

/** Children with policies that are impossible. */
export const treated = [
  // @ts-expect-error Type 'string' is not assignable to type 'Child<AnyKind>'.
  child(ConfigMap, { metadata }, { after: ["web"] }),
  // @ts-expect-error Type 'Child<ResourceKind<Secret, SecretInput, "Namespaced">>' is missing the
  child(ConfigMap, { metadata }, { after: child(Secret, { metadata }) }),
  // @ts-expect-error 'metadata' does not exist in type 'Child<AnyKind>'.
  child(ConfigMap, { metadata }, { after: [{ metadata }] }),
  child(
    Deployment,
    { metadata, spec: { selector: {}, template } },
    // @ts-expect-error Property 'ready' does not exist on type 'DeploymentStatus'.
    { readyWhen: (one) => one.status?.ready === 1 },
  ),
  child(
    Deployment,
    { metadata, spec: { selector: {}, template } },
    // @ts-expect-error Type 'undefined' is not assignable to type 'boolean'.
    { readyWhen: (one) => one.status?.replicas },
  ),
  // @ts-expect-error Type '"once"' is not assignable to type '"always" | "never" | undefined'.
  child(ConfigMap, { metadata }, { update: "once" }),
  // @ts-expect-error Type '"recreate"' is not assignable to type '"fail" | "replace" | undefined'.
  child(ConfigMap, { metadata }, { onImmutable: "recreate" }),
  // @ts-expect-error Type '"orphan"' is not assignable to type '"delete" | "keep" | undefined'.
  child(ConfigMap, { metadata }, { onRemoval: "orphan" }),
  // @ts-expect-error 'createOnly' does not exist in type 'ChildOptions<ResourceKind<ConfigMap,
  child(ConfigMap, { metadata }, { createOnly: true }),
];

/** Controllers whose options are not right. */
export const options = [
  // @ts-expect-error Property 'reconcile' is missing in type '{ owns: [ResourceKind<ConfigMap,
  controller(Shop, { owns: [ConfigMap] }),
  // @ts-expect-error Type 'ResourceKind<ConfigMap, ConfigMapInput, "Namespaced">' is missing the
  controller(Shop, { owns: ConfigMap, reconcile: () => undefined }),
  // @ts-expect-error Type 'string' is not assignable to type 'AnyKind | Owns<AnyKind, string>'.
  controller(Shop, { owns: ["Deployment"], reconcile: () => undefined }),
  // @ts-expect-error 'own' does not exist in type
  controller(Shop, { own: [ConfigMap], reconcile: () => undefined }),
  // @ts-expect-error Type '[ResourceKind<ClusterRole, ClusterRoleInput, "Cluster">]' is not
  controller(Shop, { owns: [ClusterRole], reconcile: () => undefined }),
  // @ts-expect-error \"metadataonly\" is not an option of an entry of owns
  controller(Shop, { owns: [{ kind: Secret, metadataonly: true }], reconcile: () => undefined }),
  // @ts-expect-error \"predicat\" is not an option of an entry of owns
  declaration(Shop, { owns: [ConfigMap, { kind: Secret, predicat: () => true }] }),
  controller(Shop, {
    // @ts-expect-error Property 'data' does not exist on type 'KubernetesObject & Pick<Secret &
    watches: [watch(Secret, ({ data }) => data && undefined, { scope: { metadataOnly: true } })],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    watches: [watch(Secret, byOwner(Shop), { scope: { metadataOnly: true } })],
    // @ts-expect-error Property ''add the kind to "owns", "watches" or "reads"'' is missing in type
    reconcile: (_shop, { cache, key }) => void cache.get(Secret, key)?.data,
  }),
  // @ts-expect-error Property 'mapping' is missing in type 'ResourceKind<ConfigMap,
  controller(Shop, { watches: [ConfigMap], reconcile: () => undefined }),
  // @ts-expect-error Expected 2-3 arguments, but got 1.
  controller(Shop, { watches: [watch(ConfigMap)], reconcile: () => undefined }),
  controller(Shop, {
    // @ts-expect-error Type 'string' is not assignable to type 'Mapped
    watches: [watch(ConfigMap, ({ metadata }) => metadata.name)],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    watches: [
      watch(
        ConfigMap,
        // @ts-expect-error Property 'configMap' does not exist on type '{ readonly image: string;
        byReference(Shop, ({ spec }) => spec.configMap),
      ),
    ],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    watches: [
      watch(
        ConfigMap,
        // @ts-expect-error Type 'number' is not assignable to type 'Reference'.
        byReference(Shop, ({ spec }) => spec.replicas),
      ),
    ],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error 'labels' does not exist in type 'InformerScope'.
    watches: [watch(Pod, () => undefined, { scope: { labels: "app" } })],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error Property 'replicas' does not exist on type 'PodSpec'.
    watches: [watch(Pod, () => undefined, { predicate: ({ object }) => object.spec.replicas > 1 })],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error This comparison appears to be unintentional because the types '"added" |
    watches: [watch(Pod, () => undefined, { predicate: (change) => change.type === "changed" })],
    reconcile: () => undefined,
  }),
  // @ts-expect-error Property 'replica' does not exist on type '{ readonly image: string; readonly
  controller(Shop, { predicate: ({ object }) => object.spec.replica === 1, reconcile: () => undefined }),
  // @ts-expect-error Type 'string' is not assignable to type 'boolean'.
  controller(Shop, { predicate: allOf(() => "yes"), reconcile: () => undefined }),
  // @ts-expect-error Type '"Pod"' is not assignable to type '"Shop"'.
  controller(Shop, { predicate: onPods, reconcile: () => undefined }),
  // @ts-expect-error Type 'undefined' is not assignable to type 'readonly string[]'.
  controller(Shop, { indexes: { config: ({ spec }) => spec.config }, reconcile: () => undefined }),
  // @ts-expect-error Property 'confg' does not exist on type '{ readonly image: string; readonly
  controller(Shop, { indexes: { config: ({ spec }) => [spec.confg] }, reconcile: () => undefined }),
  controller(Shop, {
    // @ts-expect-error Property 'node' does not exist on type 'PodSpec'.
    reads: [indexed(Pod, { node: ({ spec }) => [spec.node] })],
    reconcile: () => undefined,
  }),
  // @ts-expect-error Type '"5 minutes"' is not assignable to type 'Duration'.
  controller(Shop, { timeout: "5 minutes", reconcile: () => undefined }),
  // @ts-expect-error 'resyncMs' does not exist in type
  controller(Shop, { resyncMs: 5_000, reconcile: () => undefined }),
  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  controller(Shop, { concurrency: "8", reconcile: () => undefined }),
  // @ts-expect-error Type 'SourceContext' provides no match for the signature '(...args: any):
  controller(Shop, { sources: [setInterval], reconcile: () => undefined }),
  // @ts-expect-error Type 'string' is not assignable to type 'Pick<AnyKind, "group" | "plural" |
  controller(Shop, { permissions: [{ kind: "Secret", verbs: ["get"] }], reconcile: () => undefined }),
  // @ts-expect-error Type '{ kind: string; }' is missing the following properties from type
  controller({ kind: "Shop" }, { reconcile: () => undefined }),
  // @ts-expect-error Type '[ResourceKind<ClusterRole, ClusterRoleInput, "Cluster">]' is not
  declaration(Shop, { owns: [ClusterRole] }),
  // @ts-expect-error Type '"Namespaced"' is not assignable to type '"Cluster"'.
  controller(Region, { ...declaration(Shop, { owns: [ConfigMap] }), reconcile: () => undefined }),
];

declare const onPods: Predicate<ObjectOf<typeof Pod>>;

declare function all(...asked: readonly unknown[]): undefined;

/** Reconcilers that ask for what is not declared. */
export const asking = controller(Shop, {
  owns: [Deployment, { kind: Secret, metadataOnly: true }],
  reads: [indexed(Pod, { node: ({ spec }) => [spec.nodeName ?? ""] }), Namespace],
  indexes: { config: ({ spec }) => [spec.config ?? ""] },
  reconcile: async (shop, context) => {
    const { owned, ownedAll, cache, client, live, key, events, log, apply, follow, metrics } = context;
    const { namespace } = key;
    // @ts-expect-error Cannot assign to 'replicas' because it is a read-only property.
    shop.spec.replicas = 2;
    return all(
      // @ts-expect-error Property ''add the kind to "owns"'' is missing in type
      owned(Service),
      // @ts-expect-error Argument of type 'string' is not assignable to parameter of type
      owned("Deployment"),
      // @ts-expect-error Object is possibly 'undefined'.
      owned(Deployment).status,
      // @ts-expect-error Property 'available' does not exist on type 'DeploymentStatus'.
      owned(Deployment)?.status?.available,
      // @ts-expect-error Property 'status' does not exist on type 'readonly Deployment[]'.
      ownedAll(Deployment).status,
      // @ts-expect-error Property ''add the kind to "owns"'' is missing in type
      owned(Secret),
      // @ts-expect-error Property 'data' does not exist on type 'KubernetesObject & Pick<Secret &
      owned(metadataOnly(Secret))?.data,
      // @ts-expect-error Property ''add the kind to "owns", "watches" or "reads"'' is missing in type
      cache.get(Service, key),
      // @ts-expect-error Argument of type 'string' is not assignable to parameter of type
      cache.get(Deployment, "web"),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      cache.get(Deployment, { name: "web" }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      cache.get(Namespace, { namespace, name: "web" }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      cache.get(Namespace, key),
      // @ts-expect-error Property ''add the kind to "owns", "watches" or "reads"'' is missing in type
      cache.list(ConfigMap),
      // @ts-expect-error Type '{ app: string; }' is not assignable to type 'string'.
      cache.list(Deployment, { labelSelector: { app: "web" } }),
      // @ts-expect-error Property 'items' does not exist on type 'readonly Deployment[]'.
      cache.list(Deployment).items,
      // @ts-expect-error Argument of type '"nodes"' is not assignable to parameter of type
      cache.byIndex(Pod, "nodes", "a"),
      // @ts-expect-error Argument of type '"node"' is not assignable to parameter of type
      cache.byIndex(Shop, "node", "a"),
      // @ts-expect-error Property '"declare an index of the kind"' is missing in type
      cache.byIndex(Deployment, "node", "a"),
      // @ts-expect-error Argument of type 'number' is not assignable to parameter of type 'string'.
      cache.byIndex(Pod, "node", 1),
      // @ts-expect-error Property 'spec' does not exist on type 'Promise<Deployment>'.
      await client.get(Deployment, key).spec,
      // @ts-expect-error Property 'map' does not exist on type 'KubernetesList<Deployment>'.
      (await client.list(Deployment)).map((one) => one),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      await client.get(Service, { name: "web" }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      await live.get(Node, { namespace, name: "a" }),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      await client.delete(Deployment, { name: "web" }),
      // @ts-expect-error 'spec' does not exist in type 'Patch<{ readonly apiVersion?: "apps/v1" |
      await client.patch(Deployment, key, { spec: { replicas: 1 } }),
      // @ts-expect-error Type 'string' is not assignable to type 'number'.
      await client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: "1" } } }),
      // @ts-expect-error 'fase' does not exist in type '{ readonly conditions?: readonly
      await client.patch(Shop, key, { type: "merge", patch: { status: { fase: "Ready" } } }),
      // @ts-expect-error 'op' does not exist in type 'readonly JsonPatchOperation[]'.
      await client.patch(Shop, key, { type: "json", patch: { op: "add", path: "/a", value: 1 } }),
      // @ts-expect-error Type '"put"' is not assignable to type '"add" | "copy" | "move" |
      await client.patch(Shop, key, { type: "json", patch: [{ op: "put", path: "/a", value: 1 }] }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      await client.create(Namespace, { metadata: { name: "a", namespace } }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      await client.create(Namespace, { metadata: { generateName: "a-", namespace } }),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      await client.create(ConfigMap, { metadata: { name: "a" } }),
      // @ts-expect-error Property 'name' is missing in type '{ namespace: string; }' but required
      await client.create(ConfigMap, { metadata: { namespace } }),
      // @ts-expect-error Type 'number' is not assignable to type 'string'.
      await client.create(ConfigMap, { metadata: { name: "a", namespace }, data: { a: 1 } }),
      // @ts-expect-error 'img' does not exist in type '{ readonly image: string; readonly
      await client.create(Shop, { metadata: { name: "a", namespace }, spec: { img: "a" } }),
      // @ts-expect-error Type 'string' is not assignable to type 'number'.
      await client.update(Shop, { ...shop, spec: { ...shop.spec, replicas: "2" } }),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      await client.update(Shop, { metadata: { name: "a" }, spec: { image: "" } }),
      // @ts-expect-error Property 'name' is missing in type '{ namespace: string; }' but required
      await client.apply(ConfigMap, { metadata: { namespace }, data: {} }),
      // @ts-expect-error 'replica' does not exist in type '{ readonly minReadySeconds?: number |
      await client.apply(Deployment, { metadata: { name: "a", namespace }, spec: { replica: 1 } }),
      // @ts-expect-error Property ''add the kind to "owns"'' is missing in type
      await apply(child(Service, { metadata })),
      // @ts-expect-error Property 'spec' is missing in type '{ metadata: { name: string; }; }' but
      await apply({ kind: Deployment, object: { metadata } }),
      // @ts-expect-error Type 'string' is not assignable to type '"apps/v1"'.
      await context.delete(Deployment, shop),
      // @ts-expect-error Property 'metadata' is missing in type 'NamespacedKey' but required in
      await context.delete(Deployment, key),
      // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required
      await follow(Secret, { name: "a" }),
      // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
      await follow(Node, key),
      // @ts-expect-error Expected 2 arguments, but got 1.
      events.normal("Made"),
      // @ts-expect-error Type '"Info"' is not assignable to type '"Normal" | "Warning"'.
      events.record({ type: "Info", reason: "Made", message: "" }),
      // @ts-expect-error Argument of type '{ message: string; }' is not assignable to parameter of
      log.info({ shop: 1 }, { message: "x" }),
      // @ts-expect-error Argument of type 'string' is not assignable to parameter of type
      metrics.counter("shops"),
      // @ts-expect-error Property 'imge' does not exist on type '{ readonly image: string;
      shop.spec.imge,
      // @ts-expect-error 'shop.status' is possibly 'undefined'.
      shop.status.phase,
      // @ts-expect-error Property 'push' does not exist on type 'readonly { readonly name: string;
      shop.spec.ports.push({ name: "", port: 1 }),
      // @ts-expect-error 'shop.metadata.labels' is possibly 'undefined'.
      shop.metadata.labels.app,
    );
  },
});

/** Reconcilers that return what the runtime cannot act on. */
const ofAnyKind: Child[] = [child(ConfigMap, { metadata })];
export const returning = [
  // @ts-expect-error is not assignable to type '"add the kinds of the children to \"owns\""'
  controller(Shop, { owns: [ConfigMap], reconcile: () => ({ children: ofAnyKind }) }),
  // @ts-expect-error is not assignable to type '"add Secret to \"owns\""'
  controller(Shop, { owns: [ConfigMap], reconcile: () => ({ children: [child(Secret, { metadata })] }) }),
  // @ts-expect-error Type 'Child<ResourceKind<ConfigMap, ConfigMapInput, "Namespaced">>' is
  controller(Shop, { owns: [ConfigMap], reconcile: () => ({ children: child(ConfigMap, { metadata }) }) }),
  // @ts-expect-error Type 'readonly [Child<ResourceKind<ConfigMap, ConfigMapInput,
  controller(Shop, { owns: [ConfigMap], reconcile: () => [child(ConfigMap, { metadata })] }),
  // @ts-expect-error 'metadata' does not exist in type 'Child<AnyKind>'.
  controller(Shop, { owns: [ConfigMap], reconcile: () => ({ children: [{ metadata }] }) }),
  // @ts-expect-error Type 'null' is not assignable to type 'false | Child<AnyKind> | undefined'.
  controller(Shop, { owns: [ConfigMap], reconcile: () => ({ children: [null] }) }),
  // @ts-expect-error 'fase' does not exist in type 'Omit<NonNullable<StatusFields<{ phase?:
  controller(Shop, { reconcile: () => ({ status: { fase: "Ready" } }) }),
  // @ts-expect-error Type '() => Promise<{ readonly status: { readonly phase: "Ready"; readonly
  controller(Shop, { reconcile: async () => ({ status: { phase: "Ready", available: 1, avail: 1 } }) }),
  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  controller(Shop, { reconcile: async () => ({ status: { available: "1" } }) }),
  // @ts-expect-error Property 'url' is missing in type '{ readonly uri: ""; }' but required in
  controller(Shop, { reconcile: async () => ({ status: { endpoints: [{ uri: "" }] } }) }),
  // @ts-expect-error Type '"Ready"' has no properties in common with type
  controller(Shop, { reconcile: () => ({ status: "Ready" }) }),
  // @ts-expect-error Type 'string' is not assignable to type 'WantedCondition'.
  controller(Shop, { reconcile: () => ({ status: { conditions: ["Ready"] } }) }),
  controller(Shop, {
    // @ts-expect-error Type 'true' is not assignable to type '"False" | "True" | "Unknown"'.
    reconcile: () => ({ status: { conditions: [{ type: "Ready", status: true, reason: "A" }] } }),
  }),
  // @ts-expect-error Type 'WantedCondition' is missing the following properties from type
  controller(Shop, { reconcile: () => ({ status: { conditions: condition("Ready", true, "A") } }) }),
  // @ts-expect-error Type '{ zones: 1; }' is not assignable to type 'undefined'.
  controller(Region, { reconcile: () => ({ status: { zones: 1 } }) }),
  // @ts-expect-error is not assignable to type 'Duration | undefined'.
  controller(Shop, { reconcile: ({ spec }) => ({ requeueAfter: `${spec.replicas}s` }) }),
  controller(Shop, {
    // @ts-expect-error Type '"1 minute"' is not assignable to type 'Duration
    reconcile: async ({ spec }) => {
      if (spec.replicas > 1) return { requeueAfter: "1m" };
      return { requeueAfter: "1 minute" };
    },
  }),
  // @ts-expect-error Type '"soon"' is not assignable to type 'Duration | undefined'.
  controller(Shop, { reconcile: () => ({ requeueAfter: "soon" }) }),
  // @ts-expect-error "\"requeueAfterMs\" is not a field of what reconcile returns"
  controller(Shop, { reconcile: () => ({ requeueAfterMs: 10 }) }),
  // @ts-expect-error "\"requeue\" is not a field of what reconcile returns"
  controller(Shop, { reconcile: () => ({ requeue: true }) }),
  // @ts-expect-error Type 'true' is not assignable to type
  controller(Shop, { reconcile: () => true }),
  // @ts-expect-error Type '"done"' is not assignable to type
  controller(Shop, { reconcile: async () => "done" }),
  // @ts-expect-error Type 'string' is not assignable to type 'EventInput'.
  controller(Shop, { reconcile: () => ({ events: ["made"] }) }),
  // @ts-expect-error "\"events[].typ\" is not a field of what reconcile returns"
  controller(Shop, { reconcile: async () => ({ events: [{ reason: "A", message: "", typ: "Warning" }] }) }),
  // @ts-expect-error "\"children\" is not a field of what finalize returns"
  controller(Shop, { reconcile: () => undefined, finalize: () => ({ children: [] }) }),
  // @ts-expect-error Type 'true' is not assignable to type
  controller(Shop, { reconcile: () => undefined, finalize: () => true }),
  // @ts-expect-error Type 'string' is not assignable to type '"apps/v1"'.
  controller(Shop, { reconcile: ({ spec }: ObjectOf<typeof Deployment>) => void spec }),
];

/** Helper functions that ask for more than their controller has. */
const shops = declaration(Shop, { owns: [Deployment], reads: [ConfigMap] });
export const apart: ReconcileOf<typeof shops>[] = [
  // @ts-expect-error Type 'Child<ResourceKind<Service, ServiceInput, "Namespaced">>' is not assignable to type
  () => ({ children: [child(Service, { metadata: { name: "shop" } })] }),
  // @ts-expect-error 'reddy' does not exist in type
  () => ({ status: { reddy: 1 } }),
  // @ts-expect-error Argument of type
  (_shop, { owned }) => void owned(Service),
  // @ts-expect-error Property 'prize' does not exist
  ({ spec }) => void spec.prize,
];
export function helper({ owned, cache, key }: ContextOf<typeof shops>, client: Client) {
  return [
    // @ts-expect-error Property ''add the kind to "owns"'' is missing in type
    owned(ConfigMap),
    // @ts-expect-error Property ''add the kind to "owns", "watches" or "reads"'' is missing in type
    cache.get(Secret, key),
    // @ts-expect-error Property '"declare an index of the kind"' is missing in type
    cache.byIndex(ConfigMap, "a", "b"),
    // @ts-expect-error Type 'undefined' is not assignable to type 'string'.
    client.get(Deployment, { ...key, namespace: undefined }),
    // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required in
    client.subresource(Deployment, { name: "a" }, "scale"),
  ];
}
export const helped = controller(Shop, {
  ...shops,
  reconcile: () => undefined,
});

/** Reads and mappings of what a controller does not declare, or of another kind than its own. */
export const undeclared = [
  // @ts-expect-error Property ''add the kind to "owns"'' is missing in type
  controller(Shop, { reconcile: (_shop, { owned }) => owned(Deployment) && undefined }),
  controller(Shop, {
    // @ts-expect-error an object in a namespace cannot own cluster-scoped objects
    owns: [ConfigMap, ClusterRole],
    reconcile: () => undefined,
  }),
  // @ts-expect-error is not a field of what reconcile returns
  controller(Shop, { reconcile: async () => ({ status: { phase: "Ready" }, requeAfter: 5 }) }),
  // @ts-expect-error is not assignable to type '"add ConfigMap to \"owns\""'
  controller(Shop, { reconcile: () => ({ children: [child(ConfigMap, { metadata })] }) }),
  controller(Shop, {
    owns: [Deployment],
    // @ts-expect-error is not assignable to type '"add Secret to \"owns\""'
    reconcile: async () => ({ children: [child(Secret, { metadata }), child(Deployment, deployment)] }),
  }),
  controller(Shop, {
    owns: [Deployment],
    reconcile: () => undefined,
    // @ts-expect-error "\"requeAfter\" is not a field of what finalize returns"
    finalize: async () => ({ requeAfter: 5 }),
  }),
  // @ts-expect-error "\"requeAfter\" is not a field of what reconcile returns"
  controller(Shop, { reconcile: async () => ({ requeAfter: 5 }) }),
  // @ts-expect-error "\"status.endpoints[].uri\" is not a field of what reconcile returns"
  controller(Shop, { reconcile: async () => ({ status: { endpoints: [{ url: "", uri: "" }] } }) }),
  // @ts-expect-error "byReference and byOwner take the controller's own kind"
  controller(Shop, { watches: [watch(Pod, byOwner(Region))], reconcile: () => undefined }),
  controller(Shop, {
    // @ts-expect-error "byReference and byOwner take the controller's own kind"
    watches: [
      watch(
        Pod,
        byReference(Region, ({ spec }) => spec.zones),
      ),
    ],
    reconcile: () => undefined,
  }),
  // @ts-expect-error Type 'string' is not assignable to type '"apps/v1"'.
  isReady(Deployment, Shop.make("a", { image: "a" })),
];

/** Webhooks that complete or refuse what there is not. */
export const webhooks = webhookServer({ name: "shop" })
  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  .default(Shop, (shop) => ({ ...shop, spec: { ...shop.spec, replicas: "1" } }))
  // @ts-expect-error is not assignable to type
  .default(Shop, (shop) => shop.spec)
  // @ts-expect-error is not assignable to type 'UnknownField<"spec.imge">'.
  .default(Shop, (shop) => ({ ...shop, spec: { ...shop.spec, imge: "nginx" } }))
  // @ts-expect-error is not assignable to type 'UnknownField<"metadata.lables">'.
  .default(Shop, async (shop) => ({ ...shop, metadata: { ...shop.metadata, lables: {} } }))
  // @ts-expect-error is not assignable to type 'UnknownField<"spec.replicaz">'.
  .default(Deployment, (one) => (isLarge ? { ...one, spec: { ...one.spec, replicaz: 2 } } : undefined))
  // @ts-expect-error Type 'string' is not assignable to type
  .validate(Shop, () => "not this one");

/** Conversions to fields that the other version does not have. */
const OldShop = defineResource({
  group: "example.com",
  version: "v1beta1",
  kind: "Shop",
  spec: z.object({ picture: z.string() }),
});
export const conversions = [
  Shop.withVersion(OldShop, {
    // @ts-expect-error \"spec.size\" is not a field of the version
    to: ({ spec: { image } }) => ({ spec: { picture: image, size: 2 } }),
    from: ({ spec: { picture } }) => ({ spec: { image: picture } }),
  }),
  Shop.withVersion(OldShop, {
    to: ({ spec: { image } }) => ({ spec: { picture: image } }),
    // @ts-expect-error \"spec.replica\" is not a field of the version
    from: ({ spec: { picture } }) => ({ spec: { image: picture, replica: 2 } }),
  }),
];

/** Kinds that are defined wrongly, and what is around controllers. */
export const around = [
  defineResource({
    group: "example.com",
    version: "v1",
    kind: "A",
    // @ts-expect-error Argument of type 'string' is not assignable to parameter of type '() => DurationText'.
    spec: z.object({ interval: duration().default("soon") }),
  }),
  // @ts-expect-error Property 'kind' is missing in type '{ group: string; version: string; spec:
  defineResource({ group: "example.com", version: "v1", spec: z.object({}) }),
  // @ts-expect-error 'image' does not exist in type '$ZodType<unknown, unknown,
  defineResource({ group: "example.com", version: "v1", kind: "A", spec: { image: "string" } }),
  // @ts-expect-error Type '"cluster"' is not assignable to type 'Scope'. Did you mean '"Cluster"'?
  defineResource({ group: "example.com", version: "v1", kind: "A", scope: "cluster", spec: z.object({}) }),
  // @ts-expect-error 'img' does not exist in type '{ readonly image: string; readonly replicas?:
  Shop.make("a", { img: "a" }),
  // @ts-expect-error 'fase' does not exist in type 'Omit<StatusFields<{ phase?: "Ready" | "Waiting" |
  Shop.make("a", { image: "a" }, { fase: "Ready" }),
  // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
  Region.make({ name: "a", namespace: "b" }, {}),
  // @ts-expect-error Type 'boolean' is not assignable to type 'LeaderElectionOptions'.
  manager({ leaderElection: true }),
  // @ts-expect-error 'leaseDurationMs' does not exist in type 'LeaderElectionOptions'. Did you
  manager({ leaderElection: { name: "a", leaseDurationMs: 1 } }),
  // @ts-expect-error Type 'Resource<ReadObject<ZodObject<{ image: ZodString; replicas:
  manager().add(Shop),
  // @ts-expect-error 'name' does not exist in type 'readonly (Controller<AnyKind, AnyKind> |
  rbacFor({ name: "a" }, helped),
  // @ts-expect-error Expected 1 arguments, but got 2.
  every("5 minutes", () => []),
  // @ts-expect-error Argument of type '"yes"' is not assignable to parameter of type '"Unknown" |
  condition("Ready", "yes", "A"),
  // @ts-expect-error Property 'metadata' is missing in type '{ status: { replicas: number; }; }'
  existing(Deployment, { status: { replicas: 1 } }),
  // @ts-expect-error 'ready' does not exist in type '{ readonly availableReplicas?: number |
  existing(Deployment, { metadata, status: { ready: 1 } }),
];

export async function tested(client: Client) {
  const tried = await testReconcile(helped, Shop.make("a", { image: "a" }), {
    // @ts-expect-error Type '"v1"' is not assignable to type '"apps/v1"'.
    owned: [existing(Service, { metadata })],
  });
  return [
    // @ts-expect-error Type '"v1"' is not assignable to type '"apps/v1"'.
    tried.child(Service),
    // @ts-expect-error Property 'replica' does not exist on type 'DeploymentSpecInput'. Did you
    tried.child(Deployment)?.spec.replica,
    // @ts-expect-error Property 'fase' does not exist on type 'Omit<NonNullable<StatusFields<{
    tried.status?.fase,
    // @ts-expect-error Type '"Region"' is not assignable to type '"Shop"'.
    testReconcile(helped, Region.make("a", {})),
    // @ts-expect-error Property 'namespace' is missing in type '{ name: string; }' but required in
    waitForCondition(client, Shop, { name: "a" }, "Ready"),
    // @ts-expect-error Type 'string' is not assignable to type 'undefined'.
    waitFor(client, Region, { namespace: "a", name: "a" }, (one) => one),
    // @ts-expect-error Property 'fase' does not exist on type 'StatusFields<{ phase?: "Ready" |
    waitFor(client, Shop, { namespace: "a", name: "a" }, ({ status }) => status?.fase),
  ] satisfies unknown[];
}

/** Functions that are written apart: what they return is seen, and so is what is wrong with it. */
const late = (async () => ({ status: { available: 1 }, requeAfter: 5 })) satisfies ReconcileOf<typeof shops>;
const odd = (() => ({ status: { phase: "Ready", avail: 1 } })) satisfies ReconcileOf<typeof shops>;
const last = (async () => ({ requeueAfter: "1m", childs: [] })) satisfies FinalizeOf<typeof shops>;
async function declaredApart(_shop: ObjectOf<typeof Shop>, { attempt }: ContextOf<typeof shops>) {
  return { status: { available: attempt }, requeAfter: 5 };
}
export const joined = [
  // @ts-expect-error "\"requeAfter\" is not a field of what reconcile returns"
  controller(Shop, { ...shops, reconcile: late }),
  // @ts-expect-error "\"status.avail\" is not a field of what reconcile returns"
  controller(Shop, { ...shops, reconcile: odd }),
  // @ts-expect-error "\"childs\" is not a field of what finalize returns"
  controller(Shop, { ...shops, reconcile: () => undefined, finalize: last }),
  // @ts-expect-error "\"requeAfter\" is not a field of what reconcile returns"
  controller(Shop, { ...shops, reconcile: declaredApart }),
];

/** Mappings whose keys never have a namespace, of a controller whose objects have one. */
export const mapped = [
  controller(Shop, {
    // @ts-expect-error a mapping gives keys without a namespace
    watches: [watch(Node, ({ metadata }) => ({ name: metadata.name }))],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error a mapping gives keys without a namespace
    watches: [watch(Node, ({ metadata }) => metadata)],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error a mapping gives keys without a namespace
    watches: [watch(Pod, (_pod, { cache }) => cache.list(Shop).map(({ metadata: { name } }) => ({ name })))],
    reconcile: () => undefined,
  }),
  controller(Shop, {
    // @ts-expect-error a mapping gives keys without a namespace
    watches: [watch(Node, byLabel("shop"))],
    reconcile: () => undefined,
  }),
];

/** Values of metrics under labels that these do not have. */
export function measured(metrics: Registry) {
  const help = "A metric";
  const counted = metrics.counter({ name: "shops_total", help, labels: ["pool"] });
  const plain = metrics.gauge({ name: "shops", help });
  const timed = metrics.histogram({ name: "shop_seconds", help, labels: ["pool", "how"], buckets: [1] });
  // @ts-expect-error 'pol' does not exist in type 'Readonly<Record<"pool", string>>'.
  counted.inc({ pol: "a" });
  // @ts-expect-error Expected 1-2 arguments, but got 0.
  counted.inc();
  // @ts-expect-error Type 'number' is not assignable to type 'string'.
  counted.inc({ pool: 1 });
  // @ts-expect-error Argument of type 'number' is not assignable to parameter of type 'Readonly<Record<"pool", string>>'.
  counted.inc(1);
  // @ts-expect-error Type 'string' is not assignable to type 'never'.
  plain.set(1, { pool: "a" });
  // @ts-expect-error Property 'how' is missing in type '{ pool: string; }' but required in type
  timed.observe(1, { pool: "a" });
}

/** Fields to hand over, and preconditions of a deletion, that there are not. */
export const handedOver = (client: Client) => [
  // @ts-expect-error 'replica' does not exist in type
  child(Deployment, deployment, { handOver: { spec: { replica: true } } }),
  // @ts-expect-error Type 'number' is not assignable to type 'true'.
  child(Deployment, deployment, { handOver: { spec: { replicas: 3 } } }),
  // @ts-expect-error has no properties in common with type
  child(Deployment, deployment, { handOver: ["spec.replicas"] }),
  // @ts-expect-error 'generation' does not exist in type 'Preconditions'.
  client.delete(Shop, { namespace: "a", name: "b" }, { preconditions: { generation: 1 } }),
  // @ts-expect-error Type 'number' is not assignable to type 'string'.
  client.delete(Shop, { namespace: "a", name: "b" }, { preconditions: { resourceVersion: 1 } }),
];

/** What is inside of controllers and control planes, and behaviors of pods with wrong fields. */
export const inside = (plane: ControlPlane) =>
  [
    // @ts-expect-error Property 'open' does not exist on type 'Controller<
    helped.open,
    // @ts-expect-error Property 'timeoutMs' does not exist on type 'Controller<
    helped.timeoutMs,
    // @ts-expect-error Property 'options' does not exist on type 'Controller<
    helped.options,
    // @ts-expect-error Property 'watches' does not exist on type 'Controller<
    helped.watches,
    // @ts-expect-error Property 'store' does not exist on type 'ControlPlane'.
    plane.store,
    // @ts-expect-error Property 'registry' does not exist on type 'ControlPlane'.
    plane.registry,
    // @ts-expect-error Property 'tokens' does not exist on type 'ControlPlane'.
    plane.tokens,
    // @ts-expect-error Property 'containrs' does not exist on type 'PodSpec'. Did you mean 'containers'?
    plane.node.on(({ spec }) => spec.containrs.length > 1, "fail"),
    // @ts-expect-error Property 'nodName' does not exist on type 'PodSpec'. Did you mean 'nodeName'?
    plane.node.on("web-*", { kind: "run", logs: ({ spec }) => spec.nodName }),
    // @ts-expect-error Type '"crash"' is not assignable to type 'BehaviorKind'.
    plane.node.on("web-*", { kind: "crash" }),
    // @ts-expect-error 'exit' does not exist in type 'Behavior'.
    plane.node.on("web-*", { kind: "fail", exit: 3 }),
  ] satisfies unknown[];

/** Lists of children that are of other kinds. */
// @ts-expect-error Type '"Secret"' is not assignable to type '"ConfigMap"'.
export const lists: readonly Child<typeof ConfigMap | typeof Job>[] = [child(Secret, { metadata })];
