import { milliseconds } from "@windlass/clock";
import {
  ApiError,
  type Child,
  type ContextOf,
  condition,
  controller,
  declaration,
  isForbidden,
  isInvalid,
  isReady,
  type MapContext,
  metadataOnly,
  type ObjectKey,
  type ObjectOf,
  timestamp,
  watch,
} from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type PodTemplateSpecInput,
  Service,
  StatefulSet,
  StorageClass,
} from "@windlass/runtime/kinds";
import { forgetCertificate } from "../certificates/metrics.ts";
import {
  afterWorkers,
  budgetFor,
  type ComponentSeen,
  type Configured,
  componentStatusOf,
  configure,
  eventPermission,
  type Made,
  metricsServiceFor,
  networkPolicyFor,
  ownConfigMap,
  podConfiguration,
  podsOfComponent,
  refusedPods,
  type StopDependencies,
  serviceFor,
  shardClients,
  stopPods,
  trialLookMs,
  trialOf,
  trialRefusal,
  watchPods,
} from "../component/index.ts";
import { ports } from "../configuration/index.ts";
import {
  configHashAnnotation,
  configMapName,
  managedBySelector,
  podSelector,
  revisionAnnotation,
  ringLabel,
  setLabel,
  wantedAnnotation,
} from "../names.ts";
import {
  isSameLayout,
  type Layout,
  layoutText,
  type Resharding,
  type Step,
  shardsOf,
  sourceOf,
  step,
  targetOf,
} from "../resharding/index.ts";
import {
  authoritiesOfStorage,
  type ConfigurationChecks,
  layoutOf,
  reshardingOf,
  ringName,
  storageConfiguration,
} from "../set/index.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { claimTemplates, stores, withSizes } from "./claims.ts";
import { flushOf, shardConfiguration } from "./geometry.ts";
import { failedGrowth, type Growth, growthOf, liveSize } from "./growth.ts";
import { clientsOf, leavingShards, readyShards, recovered } from "./shards-seen.ts";
import { shardTemplate, statefulSetFor } from "./stateful-set.ts";
import { BuildbarnStorage, type Storage } from "./storage.ts";

const declared = declaration(BuildbarnStorage, {
  owns: [
    StatefulSet,
    Service,
    Job,
    NetworkPolicy,
    PodDisruptionBudget,
    { kind: ConfigMap, metadataOnly: true },
  ],
  watches: [
    watchPods(),
    // A change of shards goes on as their clients do.
    watch(Pod, toStorages, { scope: { labelSelector: managedBySelector } }),
    watch(Deployment, toStorages, { scope: { labelSelector: managedBySelector } }),
    // Shards that are being deleted outlive workers that are.
    watch(BuildbarnWorker, ({ metadata: { namespace, deletionTimestamp }, spec }, { cache }) =>
      deletionTimestamp === undefined
        ? []
        : cache
            .list(BuildbarnStorage, { namespace })
            .filter(({ spec: { cluster } }) => cluster === spec.cluster)
            .map(({ metadata: { name } }) => ({ namespace, name })),
    ),
    watch(
      PersistentVolumeClaim,
      ({ metadata: { namespace, labels } }) =>
        labels?.component === undefined ? undefined : { namespace, name: labels.component },
      { scope: { labelSelector: managedBySelector } },
    ),
  ],
  reads: [StorageClass],
});
type Context = ContextOf<typeof declared>;

type Held = NonNullable<ComponentSeen["held"]>;

/** Keeps the shards of each storage, and moves what they keep when their number changes. */
export const storageController = (checks: ConfigurationChecks, dependencies: StopDependencies = {}) =>
  controller(BuildbarnStorage, {
    ...declared,
    follows: [ConfigMap],
    permissions: [
      { kind: PersistentVolumeClaim, verbs: ["patch", "delete"] },
      { kind: ConfigMap, verbs: ["get"] },
      eventPermission,
    ],
    concurrency: 4,
    reconcile: (storage, context) => reconcile(storage, context, checks),
    finalize: (storage, context) => finalize(storage, context, dependencies),
  });

function toStorages(
  { metadata: { namespace, labels } }: ObjectOf<typeof Pod> | ObjectOf<typeof Deployment>,
  { cache }: MapContext,
): readonly ObjectKey[] {
  const set = labels?.[setLabel];
  if (set === undefined) return [];
  return cache
    .list(BuildbarnStorage, namespace === undefined ? {} : { namespace })
    .filter(({ spec }) => spec.cluster === set)
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
}

async function reconcile(storage: Storage, context: Context, checks: ConfigurationChecks) {
  const { cache, clock, key } = context;
  const { spec, metadata } = storage;
  const { namespace } = metadata;
  const live = context.owned(StatefulSet, metadata.name);
  const mirror = context.owned(StatefulSet, ringName(metadata.name, "b"));
  const pods = podsOfComponent(cache, key);
  // Not those of a component of another kind that has the same name.
  const shardPods = pods.filter(
    ({ metadata: { labels } }) => labels?.component === metadata.name && labels.app === "storage",
  );
  const clients = clientsOf(
    spec.cluster,
    cache.list(Deployment, { namespace }),
    cache.list(Pod, { namespace }),
  );
  const stored = reshardingOf(storage.status?.resharding);
  const wantedLayout = layoutOf(storage);
  const state = stored ?? recovered(clients, wantedLayout, live?.spec?.replicas ?? spec.replicas);
  const selector = podSelector("storage", metadata.name);
  const made: Made = { app: "storage", object: storage, selector };
  const authorities = await authoritiesOfStorage(storage, context);
  const configured = await configure({
    app: "storage",
    checks,
    object: storage,
    own: await ownConfigMap(storage, context),
    made: context.ownedAll(metadataOnly(ConfigMap)),
    pods,
    build: (own) => storageConfiguration(storage, authorities, own),
  });
  const statusOf = (next: Step, held: Held | undefined, asked?: string) => ({
    ...componentStatusOf({
      wanted: asked,
      object: storage,
      workload: live,
      pods: shardPods,
      configuration: configured.condition,
      selector,
      ...(held && { held }),
    }),
    resharding: reshardingStatus(storage, next, clock.now()),
  });
  const still: Step = { state, waitingFor: undefined };
  // The state is stored before the operator acts on it. A StatefulSet that is being replaced is
  // waited for.
  if (!stored) return { status: withTopology(statusOf(still, undefined), still), requeueAfter: 0 };
  if ([live, mirror].some((one) => one?.metadata.deletionTimestamp !== undefined))
    return { status: withTopology(statusOf(still, replacing), still) };
  if (configured.is === "refused") {
    const taken = takenBack(state, wantedLayout);
    return {
      status: withTopology(statusOf(taken, undefined), taken),
      ...(taken.state !== state && { requeueAfter: 0 }),
    };
  }
  const serving = servingHash(live, shardPods);
  const flush = await flushHeld(storage, serving, configured, context, checks);
  if (flush) return { status: withTopology(statusOf(still, flush), still) };

  const template = shardTemplate(storage, podConfiguration(configured, undefined));
  const trial = isTrialNeeded(template, live, shardPods)
    ? trialOf({
        name: metadata.name,
        set: spec.cluster,
        template,
        serving: live?.spec?.template ?? shardPods.find(isReadyPod),
        refusal: await trialRefusal(context.ownedAll(Job), pods, context),
        minReadySeconds: spec.minReadySeconds,
        claims: stores,
        jobs: context.ownedAll(Job),
        pods,
      })
    : undefined;
  const wanted = claimTemplates(storage);
  // One change at a time: a StatefulSet that is replaced would bring its new template with it.
  const claimsSeen = cache
    .list(PersistentVolumeClaim, { namespace })
    .filter(({ metadata: { labels } }) => labels?.component === metadata.name);
  const counts = shardsOf(state);
  const statefulSets: Child<typeof StatefulSet>[] = [];
  let held = trial?.held;
  for (const [ring, seen] of [
    ["a", live],
    ["b", mirror],
  ] as const) {
    if (ring === "b" && counts.b === 0 && !isStopping(mirror, shardPods)) continue;
    const growth = trial
      ? ({ is: "later" } as const)
      : await grow(
          growthOf({ wanted, live: seen, claims: claimsSeen, classes: cache.list(StorageClass) }),
          seen,
          context,
        );
    if (growth.is === "replacing") return { status: withTopology(statusOf(still, replacing), still) };
    if (growth.is === "refused")
      held ??= { reason: "VolumesCannotGrow", message: growth.message, isFault: true };
    const claims = growth.is === "grown" ? wanted : withSizes(wanted, (store) => liveSize(seen, store));
    statefulSets.push(
      statefulSetFor(storage, ring, counts[ring], template, claims, [
        configured.current,
        ...(trial ? [trial.job] : []),
      ]),
    );
  }
  const [statefulSet, mirrors] = statefulSets;
  const failed = failedGrowth(claimsSeen);
  if (failed !== undefined) held ??= { reason: "VolumesCannotGrow", message: failed, isFault: true };
  held ??= await podsHeld(live, shardPods, context);
  held ??= mirrors && mirrorsHeld(mirrors, mirror);

  const revision = template.metadata?.annotations?.[revisionAnnotation];
  // A StatefulSet that does not have its template yet does not show it.
  const isApplied = (one: typeof live) =>
    one?.spec?.template.metadata?.annotations?.[revisionAnnotation] === revision;
  const next = step(state, {
    wanted: wantedLayout,
    ready: [
      ...(isApplied(live) ? readyShards("a", live, shardPods) : []),
      ...(isApplied(mirror) ? readyShards("b", mirror, shardPods) : []),
    ],
    leaving:
      leavingShards(metadata.name, counts.a, shardPods) +
      leavingShards(ringName(metadata.name, "b"), counts.b, shardPods),
    clients,
    now: clock.now(),
    hold: milliseconds(spec.resharding.hold, "spec.resharding.hold"),
    drainTimeout: milliseconds(spec.resharding.drainTimeout, "spec.resharding.drainTimeout"),
  });
  const isMoved = next.state.phase !== state.phase;
  return {
    status: withTopology(
      statusOf(next, held, statefulSet?.object.metadata?.annotations?.[wantedAnnotation]),
      next,
    ),
    children: [
      ...configured.configMaps,
      trial?.job,
      ...statefulSets,
      serviceFor(made, { grpc: ports.storage }, { clusterIP: "None", publishNotReadyAddresses: true }),
      metricsServiceFor(made),
      budgetFor(made),
      networkPolicyFor(made, [{ port: ports.storage, from: [shardClients(spec.cluster)] }]),
    ],
    ...(isMoved && {
      requeueAfter: 0,
      events: [{ type: "Normal" as const, reason: "Resharding", message: moveText(next.state) }],
    }),
    ...(!isMoved && nextLook(next, held, clock.now())),
  };
}

/**
 * A change that no client uses yet can be taken back while the configuration is refused: the change
 * may be the reason.
 */
function takenBack(state: Resharding, wanted: Layout): Step {
  const isTaken = state.phase === "Starting" && !isSameLayout(state.to, wanted);
  return { state: isTaken ? { phase: "Stable", at: state.from } : state, waitingFor: undefined };
}

/**
 * Whether mirrors that are no longer wanted still run. Until none does, their StatefulSet stays: it
 * sees to their volumes.
 */
function isStopping(
  mirror: ObjectOf<typeof StatefulSet> | undefined,
  shardPods: readonly ObjectOf<typeof Pod>[],
): boolean {
  if (!mirror) return false;
  return (mirror.spec?.replicas ?? 0) > 0 || leavingShards(mirror.metadata.name, 0, shardPods) > 0;
}

/** Why shards have no pod, if none can be created for them. */
async function podsHeld(
  live: ObjectOf<typeof StatefulSet> | undefined,
  shardPods: readonly ObjectOf<typeof Pod>[],
  context: Context,
): Promise<Held | undefined> {
  const own = shardPods.filter(({ metadata: { labels } }) => labels?.[ringLabel] === undefined);
  if (!live || own.length >= (live.spec?.replicas ?? 0)) return undefined;
  const message = await refusedPods(StatefulSet, live.metadata, context);
  return message === undefined ? undefined : { reason: "FailedCreate", message, isFault: true };
}

/** Why the mirrors are not as they should be, if they are not. */
function mirrorsHeld(
  wanted: Child<typeof StatefulSet>,
  live: ObjectOf<typeof StatefulSet> | undefined,
): Held | undefined {
  const { name, annotations } = wanted.object.metadata ?? {};
  const isAsked =
    live?.metadata.annotations?.[wantedAnnotation] === annotations?.[wantedAnnotation] && live !== undefined;
  if (isAsked && isReady(StatefulSet, live)) return undefined;
  const { readyReplicas = 0 } = live?.status ?? {};
  return {
    reason: "MirrorsNotReady",
    message: `${readyReplicas} of ${wanted.object.spec?.replicas} pods of StatefulSet ${name} are ready`,
    isFault: false,
  };
}

/**
 * Whether shards serve that a new image or configuration could harm. They may do so without a
 * StatefulSet, while it is replaced.
 */
function isTrialNeeded(
  template: PodTemplateSpecInput,
  live: ObjectOf<typeof StatefulSet> | undefined,
  shardPods: readonly ObjectOf<typeof Pod>[],
): boolean {
  const revision = template.metadata?.annotations?.[revisionAnnotation];
  const serving = shardPods.find(isReadyPod);
  const applied = (live?.spec?.template ?? serving)?.metadata?.annotations?.[revisionAnnotation];
  // Pods and their StatefulSet are watched apart: either may be the first to show that they serve.
  const isServing = serving !== undefined || (live?.status?.readyReplicas ?? 0) > 0;
  return isServing && applied !== revision;
}

function isReadyPod({ status }: ObjectOf<typeof Pod>): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

const replacing: Held = {
  reason: "ReplacingStatefulSet",
  message: "the StatefulSet is replaced, as its claims cannot be changed; pods run on",
  isFault: false,
};

/** A layout for people. */
function layoutWords({ shards, weights, drained, isMirrored }: Layout): string {
  return [
    `${shards} ${isMirrored ? "mirrored " : ""}shards`,
    weights && `of weights ${weights.join(", ")}`,
    drained && `without ${drained.join(", ")}`,
  ]
    .filter((part) => typeof part === "string")
    .join(" ");
}

function moveText(state: Resharding): string {
  return state.phase === "Stable"
    ? `blobs are placed on ${layoutWords(state.at)}`
    : `${layoutWords(state.from)} to ${layoutWords(state.to)}: ${state.phase}`;
}

/** Sets claims to their new size; once all are, deletes the StatefulSet without its pods. */
async function grow(
  growth: Growth,
  live: ObjectOf<typeof StatefulSet> | undefined,
  context: Context,
): Promise<{ readonly is: "grown" | "replacing" } | { readonly is: "refused"; readonly message: string }> {
  if (growth.is !== "growing" || !live) return growth.is === "refused" ? growth : { is: "grown" };
  try {
    for (const { claim, size } of growth.claims) {
      const patch = { spec: { resources: { requests: { storage: size } } } };
      await context.client.patch(PersistentVolumeClaim, claim.metadata, { type: "merge", patch });
      context.events.normal("VolumeGrows", `PersistentVolumeClaim ${claim.metadata.name} asks for ${size}`);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || !(isForbidden(error) || isInvalid(error))) throw error;
    return { is: "refused", message: error.message };
  }
  await context.delete(StatefulSet, live, { propagationPolicy: "Orphan" });
  return { is: "replacing" };
}

/** Holds a configuration back that would empty a store, unless that is allowed. */
async function flushHeld(
  { metadata: { namespace, name }, spec }: Storage,
  hashBefore: string | undefined,
  { hash, configuration: { files, version } }: Configured,
  { live: server }: Context,
  checks: ConfigurationChecks,
): Promise<Held | undefined> {
  if (hashBefore === undefined || hashBefore === hash || spec.allowCacheFlush) return undefined;
  const [old] = (
    await server.list(ConfigMap, {
      namespace,
      fieldSelector: `metadata.name=${configMapName(name, hashBefore)}`,
    })
  ).items;
  if (!old)
    return {
      reason: "CacheFlushRequired",
      message: `ConfigMap ${configMapName(name, hashBefore)} of the shards that run is gone, so it is not known what a change would empty: set spec.allowCacheFlush to roll it out`,
      isFault: true,
    };
  const [before, after] = await Promise.all(
    [old.data ?? {}, files].map((one) => checks.evaluate(shardConfiguration(one, version))),
  );
  const flush =
    before && after ? flushOf(before, after) : ({ is: "unknown", why: "it was not evaluated" } as const);
  if (flush.is === "known" && flush.stores.length === 0) return undefined;
  const what =
    flush.is === "known"
      ? `the new configuration would empty ${flush.stores.join(" and ")}`
      : `it is not known which stores the new configuration would empty (${flush.why})`;
  return {
    reason: "CacheFlushRequired",
    message: `${what}: set spec.allowCacheFlush to roll it out`,
    isFault: true,
  };
}

/**
 * Which configuration the shards have. While their StatefulSet is replaced, their pods alone show
 * it.
 */
function servingHash(
  live: ObjectOf<typeof StatefulSet> | undefined,
  shardPods: readonly ObjectOf<typeof Pod>[],
): string | undefined {
  const shown =
    live?.spec?.template ?? shardPods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  return shown?.metadata?.annotations?.[configHashAnnotation];
}

/** When a change comes that no event reports. */
function nextLook({ until }: Step, held: Held | undefined, now: number): { readonly requeueAfter?: number } {
  const looks = [...(until === undefined ? [] : [Math.max(0, until - now)]), ...(held ? [trialLookMs] : [])];
  return looks.length === 0 ? {} : { requeueAfter: Math.min(...looks) };
}

type Shown = ReturnType<typeof componentStatusOf> & {
  readonly resharding: NonNullable<NonNullable<Storage["status"]>["resharding"]>;
};

function withTopology(status: Shown, { state, waitingFor }: Step) {
  const stable = condition(
    "TopologyStable",
    state.phase === "Stable",
    state.phase,
    state.phase === "Stable"
      ? moveText(state)
      : `${moveText(state)}${waitingFor === undefined ? "" : `; ${waitingFor}`}`,
  );
  // Pods that come and go are part of the move. A fault, a trial or mirrors that are waited for say
  // more than it does.
  const isMovingAlone = (reason: string) =>
    state.phase !== "Stable" && (reason === "AsWanted" || reason === "RollingOut");
  const conditions = status.conditions.map((one) =>
    one.type === "Progressing" && isMovingAlone(one.reason)
      ? condition("Progressing", true, "Resharding", stable.message)
      : one,
  );
  return { ...status, conditions: [...conditions, stable] };
}

function reshardingStatus(
  { status }: Storage,
  { state, waitingFor }: Step,
  now: number,
): Shown["resharding"] {
  const { phase } = state;
  const [from, to] = [sourceOf(state), targetOf(state)];
  const texts = { from: layoutText(from), to: layoutText(to) };
  const isPlain = texts.from === String(from.shards) && texts.to === String(to.shards);
  const before = status?.resharding;
  const since =
    phase === "Copying" || phase === "Starting"
      ? timestamp(state.since)
      : before?.phase === phase
        ? before.since
        : timestamp(now);
  return {
    phase,
    from: from.shards,
    to: to.shards,
    since,
    ...(!isPlain && { layout: texts }),
    ...(waitingFor !== undefined && { waitingFor }),
  };
}

/**
 * Waits for the shards to write down what they have, and then deletes their volumes if the policy
 * says so.
 */
async function finalize(storage: Storage, context: Context, { lostNodeMs }: StopDependencies) {
  const { namespace, name } = storage.metadata;
  const workers = context.cache.list(BuildbarnWorker, { namespace });
  const first = afterWorkers(storage, workers, context.clock.now());
  if (first) return first;
  const stop = { kind: StatefulSet, ...(lostNodeMs !== undefined && { lostNodeMs }) };
  const waiting = [
    await stopPods(storage, context, { ...stop, name: ringName(name, "b") }),
    await stopPods(storage, context, stop),
  ].find((one) => one !== undefined);
  if (waiting) return waiting;
  if (storage.spec.deletionPolicy === "Delete" && !storage.metadata.finalizers?.includes("orphan")) {
    const claims = context.cache
      .list(PersistentVolumeClaim, { namespace })
      .filter(({ metadata: { labels } }) => labels?.component === name && labels.app === "storage");
    for (const claim of claims) await context.delete(PersistentVolumeClaim, claim);
  }
  forgetCertificate(context.metrics, { kind: "BuildbarnStorage", ...storage.metadata });
  return undefined;
}
