import type { Clock } from "@windlass/clock";
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from "@windlass/kinds/builtin";
import { withCondition, withoutCondition } from "../../controllers/conditions.ts";
import { count } from "../../controllers/objects.ts";
import { wantedReplicas } from "../../controllers/pods.ts";
import type { JsonObject } from "../../json.ts";
import { countAt, millisOf } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Stored } from "../../storage/typed.ts";
import { surgeAndUnavailable } from "./rollout.ts";

/** The numbers of a Deployment's status, from those of its ReplicaSets. */
export function countsOf(
  deployment: Stored<Deployment>,
  sets: readonly Stored<ReplicaSet>[],
  current: Stored<ReplicaSet> | undefined,
): JsonObject {
  const sum = (part: string) => sets.reduce((total, set) => total + countAt(set, "status", part), 0);
  const available = sum("availableReplicas");
  const wanted = sets.reduce((total, set) => total + wantedReplicas(set), 0);
  return {
    observedGeneration: Number(deployment.metadata.generation ?? 0),
    ...count("replicas", sum("replicas")),
    ...count("updatedReplicas", current?.status?.replicas ?? 0),
    ...count("readyReplicas", sum("readyReplicas")),
    ...count("availableReplicas", available),
    ...count("unavailableReplicas", Math.max(0, wanted - available)),
    ...(sets.some((set) => set.status?.terminatingReplicas !== undefined)
      ? { terminatingReplicas: sum("terminatingReplicas") }
      : {}),
  };
}

type CountName = "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas";

/** Whether all pods are of the newest template, available, and as many as wanted. */
export function isComplete(deployment: Stored<Deployment>, counts: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = counts;
  return [updatedReplicas, replicas, availableReplicas].every((number) => number === wanted);
}

export function progressing(deployment: Stored<Deployment>): DeploymentCondition | undefined {
  return (deployment.status?.conditions ?? []).find(({ type }) => type === "Progressing");
}

/**
 * What the status should say about a rollout that was stopped or resumed since; undefined if it
 * reports it already.
 */
export function pauseCondition(
  deployment: Stored<Deployment>,
  clock: Clock,
): DeploymentCondition | undefined {
  if (deployment.spec.progressDeadlineSeconds === undefined) return undefined;
  const known = progressing(deployment);
  if (known?.reason === "ProgressDeadlineExceeded") return undefined;
  const paused = deployment.spec.paused === true;
  const noted = known?.reason === "DeploymentPaused";
  if (paused === noted) return undefined;
  return paused
    ? condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", clock)
    : condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", clock);
}

/** The conditions with whether enough pods serve. */
export function withAvailability(
  deployment: Stored<Deployment>,
  counts: DeploymentStatus,
  clock: Clock,
): DeploymentCondition[] {
  const wanted = wantedReplicas(deployment);
  const strategy = deployment.spec.strategy ?? {};
  // Recreate has no minimum of available pods but the full number.
  const unavailable =
    strategy.type === "Recreate" || wanted === 0 ? 0 : surgeAndUnavailable(strategy, wanted).unavailable;
  const enough = (counts.availableReplicas ?? 0) >= wanted - unavailable;
  return withCondition(
    deployment.status?.conditions ?? [],
    enough
      ? condition(
          "Available",
          "True",
          "MinimumReplicasAvailable",
          "Deployment has minimum availability.",
          clock,
        )
      : condition(
          "Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
          clock,
        ),
  );
}

/** The conditions with the progress of the rollout. */
export function conditionsAfterRollout(options: {
  readonly deployment: Stored<Deployment>;
  readonly counts: DeploymentStatus;
  readonly conditions: readonly DeploymentCondition[];
  readonly current: Stored<ReplicaSet> | undefined;
  readonly sets: readonly Stored<ReplicaSet>[];
  readonly clock: Clock;
}): DeploymentCondition[] {
  const { deployment, counts, current, sets, clock } = options;
  const limited = deployment.spec.progressDeadlineSeconds !== undefined;
  let conditions = limited ? options.conditions : withoutCondition(options.conditions, "Progressing");
  const known = conditions.find(({ type }) => type === "Progressing");
  const done =
    (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0) && known?.reason === "NewReplicaSetAvailable";
  if (limited && !done) {
    const what = current
      ? `ReplicaSet "${current.metadata.name}"`
      : `Deployment "${deployment.metadata.name}"`;
    const say = (status: string, reason: string, words: string) =>
      condition("Progressing", status, reason, `${what} ${words}`, clock);
    if (isComplete(deployment, counts)) {
      conditions = withCondition(
        conditions,
        say("True", "NewReplicaSetAvailable", "has successfully progressed."),
      );
    } else if (hasProgressed(deployment, counts)) {
      const next = say("True", "ReplicaSetUpdated", "is progressing.");
      const since = known?.status === "True" ? known.lastTransitionTime : undefined;
      const kept = since === undefined ? {} : { lastTransitionTime: since };
      // Progress restarts the deadline, even with an unchanged message.
      conditions = [...withoutCondition(conditions, "Progressing"), { ...next, ...kept }];
    } else if (isOverdue(deployment, known, clock)) {
      conditions = withCondition(
        conditions,
        say("False", "ProgressDeadlineExceeded", "has timed out progressing."),
      );
    }
  }
  const failure = failureOf(current, sets);
  const others = withoutCondition(conditions, "ReplicaFailure");
  if (!failure) return others;
  const { lastTransitionTime, reason, message, status } = failure;
  return withCondition(conditions, {
    type: "ReplicaFailure",
    status,
    lastUpdateTime: timestamp(clock),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  });
}

type ReplicaSetCondition = NonNullable<NonNullable<ReplicaSet["status"]>["conditions"]>[number];

/** What keeps the newest set from making pods, or failing that any other. */
function failureOf(
  current: Stored<ReplicaSet> | undefined,
  sets: readonly Stored<ReplicaSet>[],
): ReplicaSetCondition | undefined {
  const of = (set: Stored<ReplicaSet> | undefined) =>
    (set?.status?.conditions ?? []).find(({ type }) => type === "ReplicaFailure");
  return of(current) ?? sets.map(of).find((found) => found !== undefined);
}

function hasProgressed(deployment: Stored<Deployment>, counts: DeploymentStatus): boolean {
  const before = (part: CountName) => deployment.status?.[part] ?? 0;
  const after = (part: CountName) => counts[part] ?? 0;
  return (
    after("updatedReplicas") > before("updatedReplicas") ||
    after("replicas") - after("updatedReplicas") < before("replicas") - before("updatedReplicas") ||
    after("readyReplicas") > before("readyReplicas") ||
    after("availableReplicas") > before("availableReplicas")
  );
}

function isOverdue(
  deployment: Stored<Deployment>,
  known: DeploymentCondition | undefined,
  clock: Clock,
): boolean {
  if (!known || known.reason === "NewReplicaSetAvailable") return false;
  if (known.reason === "ProgressDeadlineExceeded") return true;
  const limit = deployment.spec.progressDeadlineSeconds ?? Number.POSITIVE_INFINITY;
  return updatedAt(known) + limit * 1_000 < clock.now();
}

/** How long until the rollout counts as stuck; undefined if it never will. */
export function deadlineMs(deployment: Stored<Deployment>, clock: Clock): number | undefined {
  const known = progressing(deployment);
  const limit = deployment.spec.progressDeadlineSeconds;
  if (!known || typeof limit !== "number" || limit >= 2 ** 31 - 1) return undefined;
  if (known.reason === "NewReplicaSetAvailable" || known.reason === "ProgressDeadlineExceeded")
    return undefined;
  const from = updatedAt(known);
  // A second more: the deadline has passed only then.
  return Math.max(0, from + limit * 1_000 - clock.now()) + 1_000;
}

/** When a condition was last written. Without that time it is older than any deadline, as in Go. */
function updatedAt({ lastUpdateTime }: DeploymentCondition): number {
  return millisOf(lastUpdateTime) ?? Number.NEGATIVE_INFINITY;
}

function condition(
  type: string,
  status: string,
  reason: string,
  message: string,
  clock: Clock,
): DeploymentCondition {
  const now = timestamp(clock);
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}
