import {
  type AnyKind,
  type CacheReader,
  type Declared,
  type IndexName,
  type MetadataOnly,
  metadataOnly,
  type ObjectKey,
  type ObjectOf,
  type ReconcileContext,
  watch,
} from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  Event,
  Ingress,
  Job,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  Service,
} from "@windlass/runtime/kinds";
import { managedBySelector, trialLabel } from "../names.ts";
import type { ComponentKind, ComponentObject } from "../set/index.ts";
import type { DeploymentSeen } from "./deployment.ts";
import { refusedPods } from "./refused-pods.ts";
import { waitingJob } from "./trial.ts";

/** The kinds that a component without volumes is made of. */
export const deploymentKinds = [
  Deployment,
  Service,
  Ingress,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  // Configurations are read by pods alone: that they are there is enough.
  { kind: ConfigMap, metadataOnly: true },
] as const;

type DeploymentKind =
  | typeof Deployment
  | typeof Service
  | typeof Ingress
  | typeof Job
  | typeof NetworkPolicy
  | typeof PodDisruptionBudget
  | MetadataOnly<typeof ConfigMap>;

/** The name of the component that a pod serves, or tries something for. */
function componentOf({ metadata: { labels = {} } }: ObjectOf<typeof Pod>): string | undefined {
  return labels[trialLabel] ?? labels.component;
}

function byComponent(pod: ObjectOf<typeof Pod>): readonly string[] {
  return [`${pod.metadata.namespace}/${componentOf(pod)}`];
}

/**
 * Has every change of a component's pods reconcile it: why one does not start is reported there
 * alone.
 */
export function watchPods() {
  return watch(
    Pod,
    (pod): ObjectKey | undefined => {
      const name = componentOf(pod);
      return name === undefined ? undefined : { namespace: pod.metadata.namespace, name };
    },
    {
      scope: { labelSelector: managedBySelector },
      indexes: { component: byComponent },
    },
  );
}

/** What the reconciler of a component is handed. */
export type ComponentContext<K extends AnyKind, Owned extends AnyKind = DeploymentKind> = ReconcileContext<
  Declared & {
    readonly kind: K;
    readonly owned: Owned;
    readonly cached: K | Owned | typeof Pod | ComponentKind;
    readonly index: IndexName<typeof Pod, "component">;
  }
>;

/** The pods of a component, and those that try something for it. */
export function podsOfComponent(
  cache: CacheReader<typeof Pod, IndexName<typeof Pod, "component">>,
  { namespace = "", name }: ObjectKey,
): readonly ObjectOf<typeof Pod>[] {
  return cache.byIndex(Pod, "component", `${namespace}/${name}`);
}

/** Reading why no pod can be created. */
export const eventPermission = { kind: Event, verbs: ["list"] } as const;

/** Why the Job that tries something gets no pod. */
export async function trialRefusal(
  jobs: readonly ObjectOf<typeof Job>[],
  pods: readonly ObjectOf<typeof Pod>[],
  context: Pick<ReconcileContext, "live" | "clock">,
): Promise<string | undefined> {
  const job = waitingJob(jobs, pods);
  return job && (await refusedPods(Job, job.metadata, context));
}

/** What is seen of a component that is a Deployment. */
export async function seenOf<K extends ComponentKind>(
  object: ComponentObject,
  context: ComponentContext<K>,
): Promise<DeploymentSeen> {
  const { name, namespace } = object.metadata;
  const jobs = context.ownedAll(Job);
  const pods = podsOfComponent(context.cache, { namespace, name });
  return {
    deployment: context.owned(Deployment, name),
    jobs,
    pods,
    refusal: await trialRefusal(jobs, pods, context),
    own: await ownConfigMap(object, context),
    made: context.ownedAll(metadataOnly(ConfigMap)),
  };
}

/** The user's own ConfigMap, whose changes are followed. */
export async function ownConfigMap(
  { metadata: { namespace }, spec: { configMapName: name } }: ComponentObject,
  { follow }: Pick<ReconcileContext, "follow">,
): Promise<ObjectOf<typeof ConfigMap> | undefined> {
  return name === undefined ? undefined : await follow(ConfigMap, { namespace, name });
}
