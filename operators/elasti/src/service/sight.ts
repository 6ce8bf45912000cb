import type { ObjectKey, ReconcileContext } from "@windlass/runtime";
import { EndpointSlice, Service } from "@windlass/runtime/kinds";
import { claimantOf } from "./claim.ts";
import { podsIn, resolversIn } from "./cluster-view.ts";
import { ElastiService, type ElastiServiceObject } from "./elasti-service.ts";
import { ServiceFault } from "./fault.ts";
import { privateServiceName } from "./names.ts";
import {
  type EndpointSliceObject,
  type ResolverEndpoint,
  type ServiceObject,
  selectorOf,
} from "./objects.ts";
import { phaseOf } from "./position.ts";
import type { ResolverLinks } from "./resolver-links.ts";
import { isWatched, type KindLookup, kindOfTarget, TargetScale } from "./scale-target.ts";
import type { TargetPod } from "./stage.ts";

/** What an ElastiService is about, as it is now. */
export interface Sight {
  readonly service: ServiceObject;
  readonly scale: TargetScale;
  readonly replicas: number;
  /** Whether changes of the target ask for a look by themselves. */
  readonly isTargetWatched: boolean;
  /** The EndpointSlices of the public Service, with those that lead to the resolver. */
  readonly slices: readonly EndpointSliceObject[];
  readonly pods: readonly TargetPod[];
  /** Whether the pods are known: the private Service is there, and its EndpointSlices are. */
  readonly arePodsKnown: boolean;
  readonly resolvers: readonly ResolverEndpoint[];
}

/** Where the resolver's own Service is. */
export interface ResolverService {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Looks at everything that an ElastiService is about.
 *
 * @throws ServiceFault for what a person has to put right
 */
export async function lookAt(
  elasti: ElastiServiceObject,
  context: ReconcileContext,
  lookup: KindLookup,
  resolver: ResolverService,
  links?: ResolverLinks,
): Promise<Sight> {
  const { namespace } = elasti.metadata;
  const { service: name, scaleTargetRef } = elasti.spec;
  const service = context.cache.get(Service, { namespace, name });
  checkUnclaimed(elasti, context);
  if (!service) throw new ServiceFault("ServiceMissing", `spec.service: there is no Service ${name}`);
  checkSupported(service);
  checkNotManaged(service, elasti);
  const kind = await kindOfTarget(lookup, scaleTargetRef);
  if (!kind) {
    const { apiVersion, kind: wanted } = scaleTargetRef;
    const message = `spec.scaleTargetRef: ${apiVersion} has no ${wanted} with a scale subresource`;
    throw new ServiceFault("TargetNotScalable", message);
  }
  const key: ObjectKey = { namespace, name: scaleTargetRef.name };
  const isTargetWatched = isWatched(kind);
  if (isTargetWatched) await context.follow(kind, key);
  const scale = new TargetScale(kind, key, context.client);
  const replicas = await scale.replicas();
  if (replicas === undefined)
    throw new ServiceFault("TargetMissing", `spec.scaleTargetRef: there is no ${kind.kind} ${key.name}`);
  const privateSlices = slicesOf(context, { namespace, name: privateServiceName(name) });
  return {
    service,
    scale,
    replicas,
    isTargetWatched,
    slices: slicesOf(context, { namespace, name }),
    pods: podsIn(privateSlices),
    arePodsKnown: privateSlices.length > 0,
    resolvers: reachable(resolversIn(slicesOf(context, resolver)), links),
  };
}

/**
 * The replicas of the resolver. One that has just gone away is not ready, whatever its
 * EndpointSlice says.
 */
function reachable(
  resolvers: readonly ResolverEndpoint[],
  links: ResolverLinks | undefined,
): readonly ResolverEndpoint[] {
  if (!links) return resolvers;
  return resolvers.map((one) => ({ ...one, isReady: one.isReady && !links.isDown(one.address) }));
}

/** The EndpointSlices of a Service. */
export function slicesOf({ cache }: Pick<ReconcileContext, "cache">, { namespace, name }: ObjectKey) {
  return cache.byIndex(EndpointSlice, "service", `${namespace}/${name}`);
}

/** One Service has one ElastiService. */
function checkUnclaimed(elasti: ElastiServiceObject, { cache }: ReconcileContext): void {
  const { namespace, name } = elasti.metadata;
  const others = cache.byIndex(ElastiService, "service", `${namespace}/${elasti.spec.service}`);
  const first = claimantOf(others);
  if (first && first.metadata.name !== name)
    throw new ServiceFault(
      "ServiceTaken",
      `spec.service: ElastiService ${first.metadata.name} has Service ${elasti.spec.service} already`,
    );
}

function checkSupported(service: ServiceObject): void {
  const { type, clusterIP, ports = [], internalTrafficPolicy } = service.spec ?? {};
  const why =
    type === "ExternalName"
      ? "is of type ExternalName: it has no pods"
      : clusterIP === "None"
        ? "is headless: its clients connect to pods by themselves"
        : Object.keys(selectorOf(service)).length === 0
          ? "has no selector"
          : ports.some(({ protocol = "TCP" }) => protocol !== "TCP")
            ? "has a port that is not TCP, which the resolver does not serve while it sleeps"
            : internalTrafficPolicy === "Local"
              ? "has internalTrafficPolicy Local: nodes without a resolver would drop its traffic"
              : undefined;
  if (why)
    throw new ServiceFault("ServiceUnsupported", `spec.service: Service ${service.metadata.name} ${why}`);
}

/** What Argo notes on a Service whose selector it writes. */
const managedByRollouts = "argo-rollouts.argoproj.io/managed-by-rollouts";

/**
 * Argo does nothing for a Rollout while its Service selects by a label that its pods do not have,
 * as it does while they leave it: it would never be scaled down. One that is asleep all the same is
 * woken.
 */
function checkNotManaged({ metadata }: ServiceObject, elasti: ElastiServiceObject): void {
  const rollout = metadata.annotations?.[managedByRollouts];
  if (rollout === undefined || phaseOf(elasti) !== "Serving") return;
  const why = `is managed by Argo for Rollout ${rollout}: name a Service of its pods that the Rollout does not`;
  throw new ServiceFault("ServiceUnsupported", `spec.service: Service ${metadata.name} ${why}`);
}
