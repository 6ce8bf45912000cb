import {
  type Child,
  child,
  type KubernetesObject,
  type ObjectOf,
  type WantedCondition,
} from "@windlass/runtime";
import {
  type ConfigMap,
  Deployment,
  type DeploymentSpecInput,
  type Job,
  type Pod,
  type PodTemplateSpecInput,
} from "@windlass/runtime/kinds";
import { labelsOf, podSelector, revisionAnnotation, wantedAnnotation } from "../names.ts";
import { type Configured, type ConfigureInput, configure } from "./configured.ts";
import type { Made } from "./objects.ts";
import { type ComponentSeen, componentStatusOf, type Held, wantedOf } from "./status.ts";
import { trialLookMs, trialOf, withRevision } from "./trial.ts";

/** What is seen of a component that is a Deployment. */
export interface DeploymentSeen {
  readonly deployment: ObjectOf<typeof Deployment> | undefined;
  readonly jobs: readonly ObjectOf<typeof Job>[];
  /** Those that serve, and those that try something. */
  readonly pods: readonly ObjectOf<typeof Pod>[];
  readonly own: ObjectOf<typeof ConfigMap> | undefined;
  readonly made: readonly KubernetesObject[];
  /** Why the Job that tries something gets no pod. */
  readonly refusal: string | undefined;
}

/** How a component becomes a Deployment. */
export interface DeploymentInput extends Pick<ConfigureInput, "app" | "object" | "build" | "checks"> {
  /**
   * `beside`: a pod of a new template comes up before an old one goes, so the first of them is the
   * trial. `alone`: there is never more than one, so a Job tries the new template first.
   */
  readonly rollout: "beside" | "alone";
  /** How many pods come up at a time beside the old ones. @default 1 */
  readonly maxSurge?: number | string;
  /**
   * What holds back the pods' replacement by those of another revision. It is asked each time, also
   * where none is due.
   *
   * @default nothing
   */
  readonly hold?: (isDue: boolean) => Promise<Held | undefined>;
  /** Selects the pods. @default by the component's name */
  readonly selector?: Readonly<Record<string, string>>;
  /** @default what the resource sets */
  readonly replicas?: number;
  template(configured: Configured): PodTemplateSpecInput;
}

/**
 * Makes the Deployment of a component, and its status. Without `children` its objects are left as
 * they are.
 */
export async function deploymentOf(input: DeploymentInput, seen: DeploymentSeen) {
  const { app, object, rollout, maxSurge = 1, replicas = object.spec.replicas } = input;
  const { name } = object.metadata;
  const selector = input.selector ?? podSelector(app, name);
  // Not those that try something, nor those of a component of another kind that has the same name.
  const serving = seen.pods.filter(
    ({ metadata: { labels } }) => labels?.component === name && labels.app === app,
  );
  const configured = await configure({ ...input, ...seen, pods: seen.pods });
  const status = (configuration: WantedCondition, asked: Pick<ComponentSeen, "held" | "wanted"> = {}) =>
    componentStatusOf({
      ...asked,
      object,
      workload: seen.deployment,
      pods: serving,
      configuration,
      selector,
    });
  const madeFor: Made = { app, object, selector };
  if (configured.is === "refused")
    return {
      ...madeFor,
      status: status(configured.condition),
      children: undefined,
      requeueAfter: undefined,
    };
  const template = withRevision(input.template(configured));
  const isNew =
    seen.deployment?.spec?.template.metadata?.annotations?.[revisionAnnotation] !==
    template.metadata?.annotations?.[revisionAnnotation];
  const trial =
    rollout === "alone" && isNew && seen.deployment && isServing(seen.deployment)
      ? trialOf({
          name,
          set: object.spec.cluster,
          template,
          serving: seen.deployment.spec?.template,
          refusal: seen.refusal,
          minReadySeconds: object.spec.minReadySeconds,
          jobs: seen.jobs,
          pods: seen.pods,
        })
      : undefined;
  const held =
    (await input.hold?.(isNew && seen.deployment !== undefined && trial?.held === undefined)) ?? trial?.held;
  const spec: DeploymentSpecInput = {
    replicas,
    selector: { matchLabels: selector },
    ...(rollout === "alone"
      ? { strategy: { type: "Recreate" } }
      : {
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable: 0 } },
          minReadySeconds: object.spec.minReadySeconds,
        }),
    template,
  };
  const wanted = wantedOf(spec);
  const after = [configured.current, ...(trial ? [trial.job] : [])];
  const isHeld = held !== undefined && held !== trial?.held;
  const deployment = child(
    Deployment,
    {
      metadata: {
        name,
        labels: labelsOf(app, name, object.spec.cluster),
        annotations: { [wantedAnnotation]: wanted },
      },
      spec,
    },
    { after, ...(isHeld && { update: "never" as const }) },
  );
  const children: readonly (Child<typeof ConfigMap | typeof Job | typeof Deployment> | undefined)[] = [
    ...configured.configMaps,
    trial?.job,
    deployment,
  ];
  return {
    ...madeFor,
    status: status(configured.condition, { wanted, ...(held && { held }) }),
    children,
    requeueAfter: trial?.held && trialLookMs,
  };
}

/** Where nothing runs, there is nothing to protect from a bad configuration. */
function isServing(deployment: ObjectOf<typeof Deployment>): boolean {
  return (deployment.status?.readyReplicas ?? 0) > 0;
}
