import type { Client, Reader } from "@windlass/client";
import {
  type AnyKind,
  allOf,
  anyOf,
  byLabel,
  byOwner,
  byReference,
  type CacheReader,
  type Child,
  type ContextOf,
  type Counter,
  type CreateOf,
  child,
  condition,
  conditionOf,
  controller,
  declaration,
  defineResource,
  duration,
  type FinalizeOf,
  generationChanged,
  type InputOf,
  ignoreNotFound,
  indexed,
  invalid,
  isConflict,
  isReady,
  keyOf,
  type Labels,
  labelsChanged,
  metadataOnly,
  milliseconds,
  type NamedMetaInput,
  type NamespacedKind,
  not,
  type ObjectKey,
  type ObjectOf,
  type Predicate,
  type ReconcileContext,
  type ReconcileOf,
  type ReconcileResult,
  Registry,
  type ResourceKind,
  timestamp,
  type Wanted,
  watch,
  webhookServer,
} from "@windlass/runtime";
import {
  ClusterRole,
  type ClusterRoleInput,
  ConfigMap,
  type ConfigMapInput,
  type ContainerInput,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  type DeploymentInput,
  Ingress,
  Job,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  type ServicePortInput,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { existing, testReconcile } from "@windlass/runtime/testing";
import { waitFor } from "@windlass/testing";
import { z } from "zod";
import { Region, Shop } from "./kinds.ts";

type ShopObject = ObjectOf<typeof Shop>;

// What compiles, and needs no cast for it.

// Helpers that make children.

const labelsOf = (shop: ShopObject) => ({ app: shop.metadata.name });

function containerFor({ spec }: ShopObject): ContainerInput {
  const { image, ports } = spec;
  return {
    name: "shop",
    image,
    ports: ports.map(({ name, port }) => ({ name, containerPort: port })),
    ...(spec.config !== undefined && { envFrom: [{ configMapRef: { name: spec.config } }] }),
    resources: { requests: { cpu: 1, memory: "128Mi" } },
  };
}

function deploymentFor(shop: ShopObject, replicas?: number): Child<typeof Deployment> {
  const object: DeploymentInput = {
    metadata: { name: shop.metadata.name, labels: labelsOf(shop) },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: labelsOf(shop) },
      template: { metadata: { labels: labelsOf(shop) }, spec: { containers: [containerFor(shop)] } },
    },
  };
  return child(Deployment, object, { readyWhen: ({ status }) => status?.availableReplicas === replicas });
}

const serviceFor = ({ metadata: { name }, spec }: ShopObject) =>
  child(Service, { metadata: { name }, spec: { selector: { app: name }, ports: [...spec.ports] } });

/** The same object as a child and by the client. */
const settings = (name: string): ConfigMapInput => ({ metadata: { name }, data: { colour: "red" } });
const role = (name: string): ClusterRoleInput => ({ metadata: { name }, rules: [] });

/** Adds labels to an object of any kind. */
function labelled<T extends { readonly metadata: NamedMetaInput }>(
  object: T,
  labels: Readonly<Record<string, string>>,
): T {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

/** What is undefined is left out, at any depth. */
export const pods = ({ metadata: { name, annotations }, spec }: ShopObject, replicas?: number) =>
  child(Deployment, {
    metadata: { name, annotations, labels: undefined },
    spec: {
      replicas,
      selector: { matchLabels: { app: name }, matchExpressions: undefined },
      template: {
        metadata: { annotations, labels: { app: name } },
        spec: {
          nodeSelector: undefined,
          containers: [
            { name: "shop", image: spec.image, securityContext: { runAsUser: undefined }, env: undefined },
          ],
        },
      },
    },
  });

// Parts that are put together elsewhere: from constants, functions, conditions and what was read.

const containers = [{ name: "shop", image: "nginx", imagePullPolicy: "Always" }] as const;
const podSpec = { containers, restartPolicy: "Always" } as const;
const httpPorts = (numbers: readonly number[]): ServicePortInput[] =>
  numbers.map((port) => ({ port, protocol: "TCP" }));
const copyOf = <K extends AnyKind>(kind: K, object: InputOf<K>): Child<K> => child(kind, object);
export const composed = (
  { metadata: { name }, spec }: ShopObject,
  live: ObjectOf<typeof Deployment>,
  definition: ObjectOf<typeof CustomResourceDefinition>,
  isLarge: boolean,
) => {
  const size = isLarge
    ? { replicas: 9, strategy: { type: "Recreate" } as const }
    : { replicas: spec.replicas };
  const { template, selector } = live.spec;
  return [
    child(Deployment, { metadata: { name }, spec: { selector, template: { spec: podSpec }, ...size } }),
    child(Deployment, { metadata: { name }, spec: { selector, template, ...(isLarge && size) } }),
    child(CustomResourceDefinition, { metadata: { name }, spec: definition.spec }),
    child(Service, { metadata: { name }, spec: { ports: httpPorts([80]) } }),
    child<typeof ConfigMap>(ConfigMap, settings(name)),
    copyOf(ConfigMap, settings(name)),
    child(Shop, Shop.make(name, { image: "nginx" })),
  ];
};

// Webhooks and conversions in their place, with literals.

const OldTrain = defineResource({
  group: "example.com",
  version: "v1beta1",
  kind: "Train",
  spec: z.object({ speed: z.enum(["Fast", "Slow"]).optional(), every: duration().default("5m") }),
});
export const Train = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Train",
  spec: z.object({ pace: z.enum(["Quick", "Lazy"]).optional(), wait: duration().optional() }),
}).withVersion(OldTrain, {
  to: ({ spec: { pace, wait } }) => ({ spec: { speed: pace === "Lazy" ? "Slow" : "Fast", every: wait } }),
  from: ({ spec: { speed, every } }) => ({
    spec: { pace: speed === "Slow" ? "Lazy" : "Quick", wait: every },
  }),
});
export const trainWebhooks = webhookServer({ name: "train" })
  .default(Train, (train) => ({ ...train, spec: { pace: "Quick", ...train.spec } }))
  .validate(Train, ({ spec }) => spec.pace === "Lazy" && invalid("spec.pace", "is too slow"))
  .validate(Train, ({ spec }) => [spec.pace === "Lazy" && invalid("spec.pace", "is too slow")]);
export const trains = controller(Train, {
  watches: [watch(Pod, byOwner(Train)), watch(Node, byLabel("train", { namespace: "train-namespace" }))],
  reconcile: ({ spec }) => ({ requeueAfter: spec.wait ?? "1h30m10s" }),
});
export const waitMs = (env: string): number => milliseconds(env, "WAIT");

// Children by map, filter, flatMap and conditions, of several kinds in one list.

export const listing = controller(Shop, {
  owns: [ConfigMap, Deployment, Ingress, Job, Service],
  reconcile: (shop, { owned }) => {
    const { metadata, spec } = shop;
    const first = child(ConfigMap, settings(metadata.name));
    const jobs = spec.ports
      .filter(({ port }) => port > 1024)
      .map(({ name }) =>
        child(Job, {
          metadata: { name: `${metadata.name}-${name}` },
          spec: { template: { spec: { restartPolicy: "Never", containers: [containerFor(shop)] } } },
        }),
      );
    const maps = ["a", "b"].flatMap((name) =>
      name === spec.config ? [] : [child(ConfigMap, settings(name))],
    );
    const services = spec.ports.length > 0 ? [serviceFor(shop)] : [];
    const ingress = spec.host !== undefined && child(Ingress, { metadata: { name: metadata.name } });
    const last = owned(Deployment)?.status?.availableReplicas
      ? undefined
      : deploymentFor(shop, spec.replicas);
    return {
      children: [
        first,
        ...jobs,
        ...maps,
        ...services,
        ingress,
        last,
        child(ConfigMap, labelled(settings("b"), { a: "b" })),
      ],
      status: { phase: "Ready", available: jobs.length },
    };
  },
});

export const pushing = controller(Shop, {
  owns: [ConfigMap, Service],
  reconcile: async (shop) => {
    const children: Child<typeof ConfigMap | typeof Service>[] = [serviceFor(shop)];
    for (const name of ["a", "b"])
      children.push(child(ConfigMap, settings(name), { after: children.slice(0, 1) }));
    return { children };
  },
});

const owned = [Deployment, Service] as const;
export const spreading = controller(Shop, {
  owns: [...owned, { kind: ConfigMap, predicate: anyOf(generationChanged, labelsChanged) }],
  reconcile: (shop) => ({
    children: [deploymentFor(shop), serviceFor(shop), child(ConfigMap, settings("a"))],
  }),
});

// Results: nothing, on some paths, of a named type, of a helper.

function statusOf(shop: ShopObject, isUp: boolean): NonNullable<Wanted<typeof Shop>["status"]> {
  return {
    phase: isUp ? "Ready" : "Waiting",
    ...(isUp && { available: shop.spec.replicas }),
    conditions: [condition("Ready", isUp, isUp ? "Up" : "Down", "as it should be")],
  };
}

export const returning = controller(Shop, {
  owns: [Deployment],
  async reconcile(shop, { owned, log, attempt }) {
    if (shop.spec.replicas === 0) return;
    if (attempt > 3) return { requeueAfter: "1m" };
    log.info({ shop: shop.metadata.name }, "looking");
    const live = owned(Deployment, shop.metadata.name);
    if (!live) return { children: [deploymentFor(shop)], requeueAfter: 500 };
    return { children: [deploymentFor(shop)], status: statusOf(shop, isReady(Deployment, live)) };
  },
  async finalize(shop, context) {
    const live = context.owned(Deployment);
    if (live) await context.delete(Deployment, live, { propagationPolicy: "Foreground" });
    return live && { requeueAfter: "5s", status: { ...shop.status, phase: "Waiting" } };
  },
});

function wanted(shop: ShopObject): ReconcileResult<typeof Shop, typeof Deployment> {
  return shop.spec.image === "" ? undefined : { children: [deploymentFor(shop)] };
}
export const named = controller(Shop, { owns: [Deployment, Service], reconcile: (shop) => wanted(shop) });

export const leavingOut = controller(Shop, {
  reconcile: async ({ spec }) => ({ status: { phase: undefined, available: spec.replicas } }),
});

export const patchingStatus = controller(Shop, {
  reconcile: ({ status }) => ({ status: { ...status, available: (status?.available ?? 0) + 1 } }),
});

// Helpers that take the context.

const declared = declaration(Shop, {
  owns: [Deployment, { kind: Secret, metadataOnly: true }],
  watches: [
    watch(
      ConfigMap,
      byReference(Shop, ({ spec }) => spec.config),
    ),
    watch(Pod, byLabel("app")),
  ],
  reads: [indexed(Pod, { node: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]) }), Node],
  indexes: { host: ({ spec }) => (spec.host === undefined ? [] : [spec.host]) },
});
type Context = ContextOf<typeof declared>;

async function neighbours(shop: ShopObject, { cache, client, owned, key }: Context): Promise<number> {
  const others = shop.spec.host === undefined ? [] : cache.byIndex(Shop, "host", shop.spec.host);
  const nodes = cache.list(Node).flatMap(({ metadata }) => cache.byIndex(Pod, "node", metadata.name));
  const settings = shop.spec.config && cache.get(ConfigMap, { ...key, name: shop.spec.config });
  const live = await ignoreNotFound(client.get(Deployment, key));
  const secret = owned(metadataOnly(Secret))?.metadata.uid ?? "";
  return others.length + nodes.length + (settings ? 1 : 0) + (live?.spec.replicas ?? 0) + secret.length;
}
const anywhere = ({ log, key }: Pick<ReconcileContext, "log" | "key">) => log.debug(key, "here");
const count = ({ cache }: ReconcileContext) => cache.list(Shop).length;

const apart: ReconcileOf<typeof declared> = async (shop, context) => {
  if (shop.spec.host === "later") return { requeueAfter: "30s" };
  if (shop.spec.host === "nothing") return;
  const near = await neighbours(shop, context);
  return { children: [deploymentFor(shop, near)], status: { available: near } };
};
const apartAtTheEnd: FinalizeOf<typeof declared> = (_shop, { key, log }) => log.info(key, "gone");
export const joined = controller(Shop, { ...declared, reconcile: apart, finalize: apartAtTheEnd });

export const helped = controller(Shop, {
  ...declared,
  concurrency: 4,
  reconcile: async (shop, context) => {
    anywhere(context);
    return { status: { available: (await neighbours(shop, context)) + count(context) } };
  },
  finalize: async (shop, context) =>
    (await neighbours(shop, context)) > 0 ? { requeueAfter: "1s" } : undefined,
});

class Shops {
  readonly #seen = new Set<string>();
  readonly controller = controller(Shop, {
    ...declared,
    reconcile: (shop, context) => this.#look(shop, context),
  });

  async #look({ metadata }: ShopObject, { key }: Context) {
    this.#seen.add(metadata.uid ?? key.name);
    return { status: { available: this.#seen.size } };
  }
}
export const made = new Shops().controller;

// Functions over many kinds.

async function find<K extends NamespacedKind>(client: Reader, kind: K, namespace: string, name: string) {
  return await ignoreNotFound(client.get(kind, { namespace, name }));
}
export const found = async (client: Client) => ({
  image: (await find(client, Shop, "a", "b"))?.spec.image,
  replicas: (await find(client, Deployment, "a", "b"))?.spec.replicas,
});

const namesOf = <K extends AnyKind>(cache: CacheReader, kind: K): readonly string[] =>
  cache.list(kind).map(({ metadata }) => metadata.name);
export const names = (cache: CacheReader) => [...namesOf(cache, Shop), ...namesOf(cache, Region)];

function cleaner<K extends AnyKind>(kind: K, isOld: (object: ObjectOf<K>) => boolean) {
  return controller(kind, {
    name: `clean-${kind.plural}`,
    reconcile: async (object, { client }) => {
      if (isOld(object)) await client.delete<AnyKind>(kind, object.metadata);
    },
  });
}
export const cleaners = [
  cleaner(Job, ({ status }) => status?.completionTime !== undefined),
  cleaner(Region, ({ spec }) => spec.zones.length === 0),
];

const workloads = [Deployment, StatefulSet, DaemonSet] as const;
type Workload = (typeof workloads)[number];
const imagesOf = ({ spec }: ObjectOf<Workload>) =>
  spec.template.spec?.containers.map(({ image }) => image) ?? [];
export async function images(client: Reader): Promise<readonly (string | undefined)[]> {
  const all: (string | undefined)[] = [];
  for (const kind of workloads) {
    const { items } = await client.list<Workload>(kind, { namespace: "default" });
    all.push(...items.flatMap(imagesOf));
  }
  return all;
}
export const restarters = workloads.map((kind) => controller<Workload>(kind, { reconcile: () => undefined }));

const toAll = (_: unknown, { cache }: { readonly cache: CacheReader }) =>
  cache.list(Shop).map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
export const watching = controller(Shop, {
  watches: [
    ...workloads.map((kind) => watch(kind, toAll)),
    watch(Node, toAll, { predicate: not(generationChanged) }),
    watch(Secret, ({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }), {
      scope: { labelSelector: "shop", metadataOnly: true },
      predicate: ({ object }) => object.metadata.labels !== undefined,
    }),
  ],
  reconcile: ({ status }, { cache, key, now }) => {
    const labels = cache.get(metadataOnly(Secret), key)?.metadata.labels;
    const isUp = conditionOf({ status }, "Ready")?.lastTransitionTime === timestamp(now);
    return labels || isUp ? { requeueAfter: "1h" } : undefined;
  },
});

const bigger: Predicate<ShopObject> = (change) =>
  change.type !== "updated" || change.object.spec.replicas > change.old.spec.replicas;
export const predicated = controller(Shop, {
  predicate: allOf(bigger, generationChanged),
  reconcile: () => undefined,
});

// Kinds known only at run time.

const Rollout: ResourceKind = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Rollout",
  plural: "rollouts",
  scope: "Namespaced",
};
export async function dynamic(client: Client, key: ObjectKey, kinds: readonly AnyKind[]) {
  const { spec } = await client.get(Rollout, key);
  const { replicas } = (spec ?? {}) as { readonly replicas?: number };
  await client.patch(Rollout, key, { type: "merge", patch: { spec: { replicas: (replicas ?? 0) + 1 } } });
  await client.apply(Rollout, { metadata: { ...key }, spec: { paused: true } });
  for (const kind of kinds) await ignoreNotFound(client.delete(kind, key));
  return await client
    .subresource<{ readonly spec: { readonly replicas: number } }>(Rollout, key, "scale")
    .get();
}
export const following = controller(Shop, {
  follows: [Rollout],
  reconcile: async ({ metadata }, { follow, apply }) => {
    const rollout = await follow(Rollout, metadata);
    const any: AnyKind = Rollout;
    return rollout && (await follow(any, { name: "a" })) ? { requeueAfter: "1h" } : void apply;
  },
});

// The client: writes, subresources, conflicts, keys.

export async function writing(client: Client, shop: ShopObject, region: ObjectOf<typeof Region>) {
  const { namespace, name } = shop.metadata;
  const key = { namespace, name };
  const map: CreateOf<typeof ConfigMap> = { ...settings("a"), metadata: { namespace, name: "a" } };
  await client.create(ConfigMap, map);
  await client.create(ConfigMap, { ...settings("a"), metadata: { namespace, generateName: "a-" } });
  await client.create(ClusterRole, role(name));
  await client.create(Namespace, { metadata: { name } });
  await client.update(Shop, { ...shop, spec: { ...shop.spec, replicas: 2 } });
  await client.update(Region, { ...region, spec: { zones: [...region.spec.zones, "a"] } });
  await client.update(
    Shop,
    { ...shop, status: { ...shop.status, phase: "Ready" } },
    { subresource: "status" },
  );
  await client.patch(
    Shop,
    shop.metadata,
    { type: "merge", patch: { status: { phase: null } } },
    { subresource: "status" },
  );
  await client.patch(Region, region.metadata, {
    type: "json",
    patch: [{ op: "remove", path: "/spec/zones" }],
  });
  await client.apply(Deployment, { metadata: key, spec: { replicas: 3 } }, { fieldManager: "scaler" });
  await client
    .subresource(Deployment, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 3 } } });
  await client.subresource(Pod, key, "eviction").create({ metadata: key });
  await client.delete(Region, region.metadata);
  await client.delete(Shop, keyOf(shop));
  await client.delete(Region, keyOf(region));
  const pod = await client.get(Pod, key).catch((error: unknown) => {
    if (isConflict(error)) return undefined;
    throw error;
  });
  const objectKey: ObjectKey = keyOf(shop);
  const input: InputOf<typeof Shop> = { metadata: { name }, spec: { image: shop.spec.image } };
  await waitFor(client, Shop, key, ({ status }) => status?.endpoints?.map(({ url }) => url));
  return { ip: pod?.status?.podIP, objectKey, input };
}

// Metrics, whose labels are known where they are written out, and not elsewhere.

class Counts {
  readonly #orders: Counter<"shop">;
  readonly #any: Counter;

  constructor(registry: Registry, names: readonly string[]) {
    const help = "Orders";
    this.#orders = registry.counter({ name: "orders_total", help, labels: ["shop"] });
    this.#any = registry.counter({ name: "any_total", help, labels: names });
    registry.gauge({ name: "open", help }).collect((gauge) => gauge.set(3));
    registry.gauge({ name: "rooms", help, labels: ["shop"] }).collect((gauge) => gauge.set(3, { shop: "a" }));
  }

  count(labels: Labels): void {
    this.#orders.inc({ shop: "a" }, 2);
    this.#orders.inc(Object.freeze({ shop: "b" }));
    this.#any.inc(labels);
  }
}
export const counts = new Counts(new Registry(), ["a"]);

// Generic code over children of any kind.

/** Puts a label on a child, whatever its kind. */
function withLabel<K extends AnyKind>(one: Child<K>, label: string): Child<K> {
  const { metadata } = one.object;
  const labels = { ...metadata.labels, label };
  return { ...one, object: { ...one.object, metadata: { ...metadata, labels } } };
}
export const labelledChildren = [
  withLabel(child(ConfigMap, settings("a")), "a"),
  withLabel(child(Namespace, { metadata: { name: "a" } }), "b"),
];
const isNamed = (name: string) => (one: Child) => one.object.metadata.name === name;
export const findChild = (children: readonly Child[], name: string) => children.find(isNamed(name));
const after = <K extends AnyKind>(one: Child<K>, before: readonly Child[]): Child<K> => ({
  ...one,
  options: { ...one.options, after: before },
});
export const ordered = after(child(ConfigMap, settings("a")), labelledChildren);
export const handingOver = child(
  Namespace,
  { metadata: { name: "a" } },
  {
    handOver: { metadata: { labels: { a: true }, annotations: { b: true } } },
  },
);

// A function that is written apart, and leaves the compiler what it returns.

const late = (async (shop, context) => {
  if (shop.spec.host === "later") return { requeueAfter: "30s" };
  return { children: [deploymentFor(shop, await neighbours(shop, context))], status: { phase: "Ready" } };
}) satisfies ReconcileOf<typeof declared>;
const gone = ((_shop, { key, log }) => log.info(key, "gone")) satisfies FinalizeOf<typeof declared>;
export const apartly = controller(Shop, { ...declared, reconcile: late, finalize: gone });

// What an object is deleted by: itself, and its version.

export async function deleting(client: Client, shop: ShopObject) {
  await client.delete(Shop, shop.metadata, { preconditions: { uid: shop.metadata.uid } });
  await client.delete(Shop, shop.metadata, { preconditions: shop.metadata });
}

export async function tested() {
  const shop = Shop.make("a", { image: "nginx" }, { phase: "Waiting" });
  const tried = await testReconcile(returning, shop, {
    owned: [existing(Deployment, { metadata: { name: "a" }, status: { availableReplicas: 1 } })],
    cache: [existing(Region, { metadata: { name: "eu" } })],
  });
  const image: string | undefined = tried.child(Deployment)?.spec.template.spec?.containers[0]?.image;
  return [image, tried.status?.phase, Region.make({ name: "eu" }, {}).metadata.name];
}
