import type { ReconcileContext } from "@windlass/runtime";
import { EndpointSlice, HorizontalPodAutoscaler, Service } from "@windlass/runtime/kinds";
import type { ElastiServiceObject } from "./elasti-service.ts";
import { divertingLabel } from "./names.ts";
import {
  endpointsAmong,
  isDiverted,
  isResolverSlice,
  type PortPair,
  privateServiceFor,
  type ResolverEndpoint,
  resolverSlicesFor,
} from "./objects.ts";
import { pause, pausedBy, ScaledObject } from "./scaled-object.ts";
import type { Sight } from "./sight.ts";
import { sleptTargetOf, unpauseNamed } from "./slept-target.ts";
import type { Arrangement } from "./stage.ts";

/** What is to be arranged for a service. */
export interface Arranging {
  readonly elasti: ElastiServiceObject;
  readonly sight: Sight;
  readonly ports: readonly PortPair[];
  readonly arrangement: Arrangement;
  /**
   * Whether replicas of the resolver take the service's connections, by their addresses; of those
   * that answered.
   */
  readonly listening: ReadonlyMap<string, boolean>;
  /** How many replicas it wakes up with. */
  readonly wanted: number;
  /** Whether what it depends on is awake. */
  readonly mayStart: boolean;
}

/**
 * Brings the cluster to what a stage asks for. Each write is idempotent, and what brings an
 * endpoint into the Service comes before what takes one out, so that it may end after any of them.
 *
 * @returns whether the target is as it was before it was put to sleep: scaled up, and not paused.
 */
export async function arrange(
  arranging: Arranging,
  context: ReconcileContext,
): Promise<"restored" | "slept"> {
  const { elasti, sight, ports, arrangement, listening } = arranging;
  const wantedPrivate = privateServiceFor(elasti, sight.service);
  // Pods that take connections are better than a resolver that may not; where there are none, it is
  // all there is.
  const isAlone = !arrangement.podsInService || !sight.pods.some((pod) => pod.isReady && !pod.isTerminating);
  const slices = arrangement.resolverInService
    ? resolverSlicesFor(elasti, sight.service, ports, endpointsAmong(joinable(sight, listening), isAlone))
    : [];
  await context.apply(wantedPrivate);
  for (const slice of slices) await context.apply(slice);
  await select(elasti, arrangement.podsInService, context);
  await removeOthers(
    context,
    [wantedPrivate, ...slices].map(({ object }) => object.metadata.name ?? ""),
  );
  return await scale(arranging, context);
}

/**
 * The replicas of the resolver that take connections for the service: those that say so, and of
 * those that do not answer the ones that did. One that is starting, or does not know the service
 * yet, would refuse the connections sent to it.
 */
function joinable(
  { service, slices, resolvers }: Sight,
  listening: ReadonlyMap<string, boolean>,
): readonly ResolverEndpoint[] {
  const listed = new Set(
    slices
      .filter((slice) => isResolverSlice(slice, service.metadata.name))
      .flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)),
  );
  return resolvers.filter(({ address }) => listening.get(address) ?? listed.has(address));
}

/**
 * Puts the pods into the Service or takes them out; and back into any other that this ElastiService
 * had before.
 */
export async function select(
  elasti: ElastiServiceObject,
  podsInService: boolean,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name } = elasti.metadata;
  const diverted = context.cache.byIndex(Service, "divertedBy", `${namespace}/${name}`);
  for (const { metadata } of diverted)
    if (podsInService || metadata.name !== elasti.spec.service) await patchSelector(metadata.name, null);
  const service = context.cache.get(Service, { namespace, name: elasti.spec.service });
  if (!podsInService && service && !isDiverted(service)) await patchSelector(elasti.spec.service, name);

  async function patchSelector(service: string, value: string | null): Promise<void> {
    const patch = { spec: { selector: { [divertingLabel]: value } } };
    await context.client.patch(Service, { namespace, name: service }, { type: "merge", patch });
  }
}

/**
 * Deletes what was made for this ElastiService and is not wanted, such as for a Service that it had
 * before.
 */
export async function removeOthers(context: ReconcileContext, wanted: readonly string[]): Promise<void> {
  for (const kind of [EndpointSlice, Service])
    for (const object of context.ownedAll(kind))
      if (!wanted.includes(object.metadata.name)) await context.delete(kind, object);
}

async function scale(
  { elasti, sight, arrangement, wanted, mayStart }: Arranging,
  context: ReconcileContext,
): Promise<"restored" | "slept"> {
  const { namespace } = elasti.metadata;
  const { scaledObject } = sleptTargetOf(elasti.spec);
  const isAsleep = sight.replicas === 0 && arrangement.scale === "leave";
  if (arrangement.scale === "zero") {
    const found = await scaledObjectOf(elasti, context);
    if (found) await pause(context, { namespace, name: scaledObject ?? "" }, found);
    if (sight.replicas > 0) await sight.scale.set(0);
    return "slept";
  }
  if (arrangement.scale === "up" && mayStart && sight.replicas < wanted) await sight.scale.set(wanted);
  if (isAsleep || (arrangement.scale === "up" && !mayStart)) return "slept";
  // The one that was paused, which the spec may not name any more.
  for (const name of new Set([scaledObject, elasti.status?.sleptTarget?.scaledObject]))
    if (name !== undefined) await unpauseNamed(namespace, name, context);
  return "restored";
}

/** The ScaledObject that an ElastiService names, if KEDA scales its target. */
export async function scaledObjectOf({ metadata, spec }: ElastiServiceObject, context: ReconcileContext) {
  const { type, name = "" } = spec.autoscaler ?? {};
  if (type !== "keda") return undefined;
  return await context.follow(ScaledObject, { namespace: metadata.namespace, name });
}

/** Whether the ScaledObject was paused by others: then the target's scale is theirs. */
export async function isPausedByOthers(
  elasti: ElastiServiceObject,
  context: ReconcileContext,
): Promise<boolean> {
  const found = await scaledObjectOf(elasti, context);
  return found !== undefined && pausedBy(found) === "others";
}

/**
 * How many replicas a target wakes up with: as many as the waiting requests need, within all
 * bounds.
 */
export async function wantedReplicas(
  { metadata, spec }: ElastiServiceObject,
  waiting: number,
  context: ReconcileContext,
): Promise<number> {
  const { minTargetReplicas, maxTargetReplicas = Infinity, requestsPerReplica, autoscaler } = spec;
  const hpa =
    autoscaler?.type === "hpa"
      ? await context.follow(HorizontalPodAutoscaler, {
          namespace: metadata.namespace,
          name: autoscaler.name,
        })
      : undefined;
  const least = Math.max(minTargetReplicas, hpa?.spec?.minReplicas ?? 1);
  const most = Math.max(least, Math.min(maxTargetReplicas, hpa?.spec?.maxReplicas ?? Infinity));
  const needed = requestsPerReplica === undefined ? least : Math.ceil(waiting / requestsPerReplica);
  return Math.min(most, Math.max(least, needed));
}
