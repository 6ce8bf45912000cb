import { createHash } from "node:crypto";
import {
  condition,
  formatSelector,
  isReady,
  type ObjectOf,
  type PodFault,
  podFault,
  type WantedCondition,
} from "@windlass/runtime";
import { Deployment, type Pod, StatefulSet } from "@windlass/runtime/kinds";
import { wantedAnnotation } from "../names.ts";
import type { ComponentObject } from "../set/index.ts";
import { unstartedPod } from "./unstarted-pod.ts";

/** What holds back a change of the pods. */
export interface Held {
  readonly reason: string;
  readonly message: string;
  readonly isFault: boolean;
}

/** What is seen of a component. */
export interface ComponentSeen {
  readonly object: ComponentObject;
  readonly workload: ObjectOf<typeof Deployment> | ObjectOf<typeof StatefulSet> | undefined;
  readonly pods: readonly ObjectOf<typeof Pod>[];
  /**
   * What the workload is wanted to be, as `wantedOf` gives it. Undefined where that is not known.
   */
  readonly wanted?: string | undefined;
  /** `ConfigValid`. */
  readonly configuration: WantedCondition;
  /** What holds back a change of the pods, if anything does. */
  readonly held?: Held;
  readonly selector: Readonly<Record<string, string>>;
}

/** Stands for the spec of a workload. */
export function wantedOf(spec: object): string {
  return createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 10);
}

/** The fields of a status that all components have. */
export function componentStatusOf(seen: ComponentSeen) {
  const { object, workload, configuration, held, selector } = seen;
  const { replicas = 0, readyReplicas = 0 } = workload?.status ?? {};
  const wanted = workload?.spec?.replicas ?? object.spec.replicas;
  const kind = object.kind === "BuildbarnStorage" ? StatefulSet : Deployment;
  // What it reports may be the answer to what it was asked before.
  const isAsked =
    seen.wanted === undefined || seen.wanted === workload?.metadata.annotations?.[wantedAnnotation];
  const isUp = workload !== undefined && isAsked && isReady(kind, workload);
  const fault = isUp ? undefined : (podFault(seen.pods) ?? creationFault(workload));
  const count = `${readyReplicas} of ${wanted} pods are ready`;
  const isReadyNow = isUp && configuration.status !== "False" && held === undefined;
  return {
    state: workload === undefined ? "NotFound" : isReadyNow ? "Ready" : "NotReady",
    replicas,
    readyReplicas,
    selector: formatSelector({ matchLabels: selector }),
    conditions: [
      readyCondition(seen, { isUp, count, wanted, fault }),
      progress(seen, isUp, fault !== undefined),
      configuration.status === "False"
        ? condition("Degraded", true, configuration.reason, configuration.message)
        : held?.isFault
          ? condition("Degraded", true, held.reason, held.message)
          : condition("Degraded", fault !== undefined, fault?.reason ?? "AsExpected", fault?.message),
      configuration,
    ],
  } as const;
}

/** Why a Deployment gets no pods, if none can be created. */
function creationFault(workload: ComponentSeen["workload"]): PodFault | undefined {
  const failure = workload?.status?.conditions?.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  return (
    failure && {
      reason: failure.reason ?? "FailedCreate",
      message: failure.message ?? "no pod can be created",
    }
  );
}

interface Readiness {
  readonly isUp: boolean;
  readonly count: string;
  readonly wanted: number;
  readonly fault: ReturnType<typeof podFault>;
}

function readyCondition(
  { workload, configuration, held, pods }: ComponentSeen,
  seen: Readiness,
): WantedCondition {
  const { isUp, count, wanted, fault } = seen;
  if (configuration.status === "False") {
    // Pods of the last good configuration may serve on: that is no news of them, but the resource
    // is not as its spec asks.
    const kept = workload ? `${count} with the last good configuration; ` : "";
    return condition("Ready", false, configuration.reason, `${kept}${configuration.message}`);
  }
  if (held) return condition("Ready", false, held.reason, `${count}; ${held.message}`);
  if (isUp) return condition("Ready", true, wanted === 0 ? "ScaledToZero" : "PodsReady", count);
  if (fault) return condition("Ready", false, fault.reason, `${count}; ${fault.message}`);
  const unstarted = unstartedPod(pods);
  const waiting = unstarted === undefined ? count : `${count}; ${unstarted}`;
  return condition("Ready", false, workload ? "RollingOut" : "Creating", waiting);
}

function progress({ workload, configuration, held }: ComponentSeen, isUp: boolean, hasFault: boolean) {
  const stalled = workload?.status?.conditions?.find(
    ({ type, status }) => type === "Progressing" && status === "False",
  );
  if (stalled)
    return condition(
      "Progressing",
      false,
      stalled.reason ?? "Stalled",
      stalled.message ?? "it does not go on",
    );
  if (configuration.status === "False" || held?.isFault)
    return condition("Progressing", false, "Held", "nothing is changed until the fault is gone");
  if (isUp && !held) return condition("Progressing", false, "AsWanted");
  return condition("Progressing", true, held?.reason ?? (hasFault ? "Retrying" : "RollingOut"));
}
