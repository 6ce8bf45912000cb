import { createHash } from "node:crypto";
import { type Child, child, type ObjectOf } from "@windlass/runtime";
import { type ContainerInput, Job, type Pod, type PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { configHashAnnotation, managedBy, setLabel, trialLabel } from "../names.ts";
import { lastWords, podFault } from "./faults.ts";

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

/** Stands for the image and the configuration of a template. */
export function revisionOf(template: PodTemplateSpecInput): string {
  const images = template.spec?.containers.map(({ image }) => image);
  const hash = template.metadata?.annotations?.[configHashAnnotation];
  return createHash("sha256")
    .update(JSON.stringify([images, hash]))
    .digest("hex")
    .slice(0, 10);
}

/** What a trial of a component is made from. */
export interface TrialInput {
  readonly name: string;
  readonly set: string;
  /** The template that is to be rolled out, with its revision. */
  readonly template: PodTemplateSpecInput;
  /** For how long the program must be well. */
  readonly minReadySeconds: number;
  /** Volumes of the StatefulSet's claims, which the pod gets empty ones for. */
  readonly claims?: readonly string[];
  /** The Jobs of the component. */
  readonly jobs: readonly ObjectOf<typeof Job>[];
  /** The pods of the component, those that try something included. */
  readonly pods: readonly ObjectOf<typeof Pod>[];
}

/** The name of the Job that tries a revision. */
export function trialName(name: string, revision: string): string {
  return `${name}-try-${revision}`;
}

/** Whether a program with a new revision runs. */
export function trialOf(input: TrialInput): Trial {
  const { name, set, template, minReadySeconds, claims = [], jobs, pods } = input;
  const { containers, initContainers = [], volumes = [], ...spec } = template.spec ?? { containers: [] };
  const small = <C extends { readonly resources?: unknown }>({ resources: _resources, ...container }: C) =>
    container;
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
            initContainers: initContainers.map(small),
            containers: containers.map((container) => {
              const { livenessProbe: _liveness, lifecycle: _lifecycle, ...rest } = small(container);
              return { ...rest, readinessProbe: lasting(rest.readinessProbe, minReadySeconds) };
            }),
            volumes: [...volumes, ...claims.map((claim) => ({ name: claim, emptyDir: {} }))],
          },
        },
        // A pod that was in the way of others says nothing of its configuration.
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
      },
    },
    { readyWhen: isWell, onImmutable: "replace" },
  );
  const live = jobs.find(({ metadata }) => metadata.name === jobName);
  return { job, held: heldBy(jobName, live, pods) };
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

function isWell({ status }: ObjectOf<typeof Job>): boolean {
  return (status?.ready ?? 0) > 0;
}

function heldBy(
  name: string,
  live: ObjectOf<typeof Job> | undefined,
  pods: readonly ObjectOf<typeof Pod>[],
): Trial["held"] {
  if (live && isWell(live)) return undefined;
  const isOver = live?.status?.conditions?.some(
    ({ type, status }) => (type === "Failed" || type === "Complete") && status === "True",
  );
  const tried = pods.filter(({ metadata }) => metadata.labels?.["batch.kubernetes.io/job-name"] === name);
  if (!isOver) {
    const found = podFault(tried);
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
  const words = ended ? lastWords(ended.message) : ": the program ended at once, without an error";
  return {
    reason: "TrialFailed",
    message: `a new revision did not start, so it was not rolled out (delete Job ${name} to try again)${words}`,
    isFault: true,
  };
}
