import type { Clock } from "@windlass/clock";
import { withCondition, withoutCondition } from "../../controllers/conditions.ts";
import { count, listAt, numberAt, timeAt } from "../../controllers/objects.ts";
import { wantedReplicas } from "../../controllers/pods.ts";
import type { JsonObject } from "../../json.ts";
import { timestamp } from "../../registry/metadata.ts";
import { objectAt } from "../../storage/object-fields.ts";
import { field, type StoredObject } from "../../storage/store.ts";
import { surgeAndUnavailable } from "./rollout.ts";

/** The numbers of a Deployment's status, from those of its ReplicaSets. */
export function countsOf(
  deployment: StoredObject,
  sets: readonly StoredObject[],
  current: StoredObject | undefined,
): JsonObject {
  const sum = (part: string) => sets.reduce((total, set) => total + numberAt(set, ["status", part], 0), 0);
  const available = sum("availableReplicas");
  const wanted = sets.reduce((total, set) => total + wantedReplicas(set), 0);
  return {
    observedGeneration: Number(deployment.metadata.generation ?? 0),
    ...count("replicas", sum("replicas")),
    ...count("updatedReplicas", current ? numberAt(current, ["status", "replicas"], 0) : 0),
    ...count("readyReplicas", sum("readyReplicas")),
    ...count("availableReplicas", available),
    ...count("unavailableReplicas", Math.max(0, wanted - available)),
    ...(sets.some((set) => field(set, "status", "terminatingReplicas") !== undefined)
      ? { terminatingReplicas: sum("terminatingReplicas") }
      : {}),
  };
}

/** Whether all pods are of the newest template, available, and as many as wanted. */
export function isComplete(deployment: StoredObject, counts: JsonObject): boolean {
  const wanted = wantedReplicas(deployment);
  return ["updatedReplicas", "replicas", "availableReplicas"].every(
    (part) => numberAt(counts, [part], 0) === wanted,
  );
}

export function progressing(deployment: StoredObject): JsonObject | undefined {
  return listAt(deployment, "status", "conditions").find(({ type }) => type === "Progressing");
}

/**
 * What the status should say about a rollout that was stopped or resumed since; undefined if it
 * says so already.
 */
export function pauseCondition(deployment: StoredObject, clock: Clock): JsonObject | undefined {
  if (field(deployment, "spec", "progressDeadlineSeconds") === undefined) return undefined;
  const known = progressing(deployment);
  if (known?.reason === "ProgressDeadlineExceeded") return undefined;
  const paused = field(deployment, "spec", "paused") === true;
  const noted = known?.reason === "DeploymentPaused";
  if (paused === noted) return undefined;
  return paused
    ? condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", clock)
    : condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", clock);
}

/** The conditions with whether enough pods serve. */
export function withAvailability(deployment: StoredObject, counts: JsonObject, clock: Clock): JsonObject[] {
  const wanted = wantedReplicas(deployment);
  const strategy = objectAt(deployment, "spec", "strategy");
  // Recreate has no minimum of available pods but the full number.
  const unavailable =
    strategy.type === "Recreate" || wanted === 0 ? 0 : surgeAndUnavailable(strategy, wanted).unavailable;
  const enough = numberAt(counts, ["availableReplicas"], 0) >= wanted - unavailable;
  return withCondition(
    listAt(deployment, "status", "conditions"),
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
  readonly deployment: StoredObject;
  readonly counts: JsonObject;
  readonly conditions: readonly JsonObject[];
  readonly current: StoredObject | undefined;
  readonly sets: readonly StoredObject[];
  readonly clock: Clock;
}): JsonObject[] {
  const { deployment, counts, current, sets, clock } = options;
  const limited = field(deployment, "spec", "progressDeadlineSeconds") !== undefined;
  let conditions: readonly JsonObject[] = limited
    ? options.conditions
    : withoutCondition(options.conditions, "Progressing");
  const known = conditions.find(({ type }) => type === "Progressing");
  const done =
    numberAt(counts, ["replicas"], 0) === numberAt(counts, ["updatedReplicas"], 0) &&
    known?.reason === "NewReplicaSetAvailable";
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
      const kept = known?.status === "True" ? { lastTransitionTime: known.lastTransitionTime as string } : {};
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
    status: status as string,
    lastUpdateTime: timestamp(clock),
    lastTransitionTime: lastTransitionTime as string,
    reason: reason as string,
    message: message as string,
  });
}

/** What keeps the newest set from making pods, or failing that any other. */
function failureOf(current: StoredObject | undefined, sets: readonly StoredObject[]): JsonObject | undefined {
  const of = (set: StoredObject | undefined) =>
    listAt(set, "status", "conditions").find(({ type }) => type === "ReplicaFailure");
  return of(current) ?? sets.map(of).find((found) => found !== undefined);
}

function hasProgressed(deployment: StoredObject, counts: JsonObject): boolean {
  const before = (part: string) => numberAt(deployment, ["status", part], 0);
  const after = (part: string) => numberAt(counts, [part], 0);
  return (
    after("updatedReplicas") > before("updatedReplicas") ||
    after("replicas") - after("updatedReplicas") < before("replicas") - before("updatedReplicas") ||
    after("readyReplicas") > before("readyReplicas") ||
    after("availableReplicas") > before("availableReplicas")
  );
}

function isOverdue(deployment: StoredObject, known: JsonObject | undefined, clock: Clock): boolean {
  if (!known || known.reason === "NewReplicaSetAvailable") return false;
  if (known.reason === "ProgressDeadlineExceeded") return true;
  const limit = numberAt(deployment, ["spec", "progressDeadlineSeconds"], Number.POSITIVE_INFINITY);
  return (timeAt(known, "lastUpdateTime") ?? clock.now()) + limit * 1_000 < clock.now();
}

/** How long until the rollout counts as stuck; undefined if it never will. */
export function deadlineMs(deployment: StoredObject, clock: Clock): number | undefined {
  const known = progressing(deployment);
  const limit = field(deployment, "spec", "progressDeadlineSeconds");
  if (!known || typeof limit !== "number" || limit >= 2 ** 31 - 1) return undefined;
  if (known.reason === "NewReplicaSetAvailable" || known.reason === "ProgressDeadlineExceeded")
    return undefined;
  const from = timeAt(known, "lastUpdateTime") ?? clock.now();
  // A second more: the deadline has passed only then.
  return Math.max(0, from + limit * 1_000 - clock.now()) + 1_000;
}

function condition(type: string, status: string, reason: string, message: string, clock: Clock): JsonObject {
  const now = timestamp(clock);
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}
