import { type Child, child, lastLineOf, type ObjectMeta, type ObjectOf, podFault } from "@windlass/runtime";
import { type ContainerInput, Job, type Pod, type PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { managedBy, resourcesAnnotation, revisionAnnotation, setLabel, trialLabel } from "../names.ts";
import { wantedOf } from "./status.ts";

/**
 * A pod that starts a program with a new image or configuration, beside those that serve. For
 * programs that cannot be rolled beside themselves: a scheduler has the queue in its memory, a
 * shard its volumes. What does not start never reaches them.
 */
export interface Trial {
  readonly job: Child<typeof Job>;
  /** Why it goes no further. Undefined once the program is well. */
  readonly held: { readonly reason: string; readonly message: string; readonly isFault: boolean } | undefined;
}

/** How soon a trial is looked at again: why it gets no pod is in events alone. */
export const trialLookMs = 5_000;

/**
 * Stands for a template: its images and configuration, and where and as whom its pods run. Any of
 * it may keep a pod from starting.
 */
export function revisionOf({ metadata = {}, spec }: PodTemplateSpecInput): string {
  const { [revisionAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  return wantedOf({ metadata: { ...metadata, annotations }, spec });
}

/** A template with the annotations that stand for it. */
export function withRevision(template: PodTemplateSpecInput): PodTemplateSpecInput {
  const { metadata = {}, spec } = template;
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const resources = wantedOf(containers.map(({ resources: own = {} }) => own));
  const sized = { ...metadata, annotations: { ...metadata.annotations, [resourcesAnnotation]: resources } };
  const revision = revisionOf({ ...template, metadata: sized });
  return {
    ...template,
    metadata: { ...sized, annotations: { ...sized.annotations, [revisionAnnotation]: revision } },
  };
}

/** A template as it is read, or a pod of it. */
interface Annotated {
  readonly metadata?: { readonly annotations?: ObjectMeta["annotations"] | undefined } | undefined;
}

/** What a trial of a component is made from. */
export interface TrialInput {
  readonly name: string;
  readonly set: string;
  /** The template that is to be rolled out, with its revision. */
  readonly template: PodTemplateSpecInput;
  /** The template of the pods that serve. */
  readonly serving: Annotated | undefined;
  /** Why no pod could be created for the Job, in the API server's words. */
  readonly refusal: string | undefined;
  /** For how long the program must be well. */
  readonly minReadySeconds: number;
  /** Volumes of the StatefulSet's claims, which the pod gets empty ones for. */
  readonly claims?: readonly string[];
  /** The Jobs of the component. */
  readonly jobs: readonly ObjectOf<typeof Job>[];
  /** The pods of the component, those that try something included. */
  readonly pods: readonly ObjectOf<typeof Pod>[];
}

/** The Job that tries a revision, if it waits for a pod that is not there. */
export function waitingJob(
  jobs: readonly ObjectOf<typeof Job>[],
  pods: readonly ObjectOf<typeof Pod>[],
): ObjectOf<typeof Job> | undefined {
  return jobs.find(
    ({ metadata, status }) =>
      (status?.conditions ?? []).length === 0 &&
      !pods.some(({ metadata: { labels } }) => labels?.["batch.kubernetes.io/job-name"] === metadata.name),
  );
}

/** The name of the Job that tries a revision. */
export function trialName(name: string, revision: string): string {
  return `${name}-try-${revision}`;
}

/** Whether a program with a new revision runs. */
export function trialOf(input: TrialInput): Trial {
  const { name, set, template, serving, refusal, minReadySeconds, claims = [], jobs, pods } = input;
  const { containers, initContainers = [], volumes = [], ...spec } = template.spec ?? { containers: [] };
  const sized = hasOtherResources(template, serving) ? <C>(container: C) => container : withSmallRequests;
  const jobName = trialName(name, revisionOf(template));
  // Not the labels of the component: no Service leads here.
  const labels = { ...managedBy, [trialLabel]: name, [setLabel]: set };
  const annotations = template.metadata?.annotations ?? {};
  const job = child(
    Job,
    {
      metadata: { name: jobName, labels },
      spec: {
        backoffLimit: 0,
        template: {
          metadata: { labels, annotations },
          spec: {
            ...spec,
            restartPolicy: "Never",
            terminationGracePeriodSeconds: 5,
            topologySpreadConstraints: [],
            initContainers: initContainers.map((container) => sized(container)),
            containers: containers.map((container) => {
              const { livenessProbe: _liveness, lifecycle: _lifecycle, ...rest } = sized(container);
              return { ...rest, readinessProbe: lasting(rest.readinessProbe, minReadySeconds) };
            }),
            volumes: [...volumes, ...claims.map((claim) => ({ name: claim, emptyDir: {} }))],
          },
        },
        // A pod that was in the way of others does not show a fault of its configuration.
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
      },
    },
    { readyWhen: isWell, onImmutable: "replace" },
  );
  const live = jobs.find(({ metadata }) => metadata.name === jobName);
  return { job, held: heldBy(jobName, live, pods, refusal) };
}

/**
 * The pod is ready once it was so for some seconds on end. If the program ends before, the Job has
 * failed.
 */
function lasting(
  probe: ContainerInput["readinessProbe"],
  seconds: number,
): NonNullable<ContainerInput["readinessProbe"]> {
  return { ...probe, periodSeconds: 1, failureThreshold: 1, successThreshold: Math.max(1, seconds) };
}

/** Where other resources are what is new, the pod that tries it must get them. */
function hasOtherResources({ metadata }: PodTemplateSpecInput, serving: TrialInput["serving"]): boolean {
  const before = serving?.metadata?.annotations?.[resourcesAnnotation];
  return before !== undefined && before !== metadata?.annotations?.[resourcesAnnotation];
}

/** What a program needs to start and wait. */
const smallRequests = { cpu: "10m", memory: "32Mi", "ephemeral-storage": "16Mi" } as const;

/**
 * A container that finds room beside those that serve, and still has the resources that a
 * ResourceQuota may demand.
 */
function withSmallRequests<C extends Pick<ContainerInput, "resources">>(container: C): C {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const names = Object.keys(smallRequests).filter((name) => name in requests || name in limits);
  if (names.length === 0) return { ...container, resources: {} };
  const only = (all: typeof limits) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  return { ...container, resources: { requests: only(smallRequests), limits: only(limits) } };
}

function isWell({ status }: ObjectOf<typeof Job>): boolean {
  return (status?.ready ?? 0) > 0;
}

function heldBy(
  name: string,
  live: ObjectOf<typeof Job> | undefined,
  pods: readonly ObjectOf<typeof Pod>[],
  refusal: string | undefined,
): Trial["held"] {
  if (live && isWell(live)) return undefined;
  const isOver = live?.status?.conditions?.some(
    ({ type, status }) => (type === "Failed" || type === "Complete") && status === "True",
  );
  const tried = pods.filter(({ metadata }) => metadata.labels?.["batch.kubernetes.io/job-name"] === name);
  if (!isOver) {
    const found =
      tried.length === 0 && refusal !== undefined
        ? { reason: "FailedCreate", message: refusal }
        : podFault(tried);
    // A program that has ended is the Job's to judge: it may have been in the way of others.
    const fault = found?.reason === "CrashLoop" ? undefined : found;
    return {
      reason: fault?.reason ?? "Trying",
      message: `a new revision is tried on one pod, of Job ${name}${fault ? `: ${fault.message}` : ""}`,
      isFault: fault !== undefined,
    };
  }
  const ended = tried
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .map(({ state }) => state?.terminated)
    .find((end) => end !== undefined && end.exitCode !== 0);
  const words = ended ? lastLineOf(ended.message) : ": the program ended at once, without an error";
  return {
    reason: "TrialFailed",
    message: `a new revision did not start, so it was not rolled out (delete Job ${name} to try again)${words}`,
    isFault: true,
  };
}
