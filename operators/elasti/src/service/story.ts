import { condition, type EventInput, type StatusFor } from "@windlass/runtime";
import { isNewNeed, withNeed } from "../triggers/wake-ahead.ts";
import type { ElastiService, ElastiServiceObject } from "./elasti-service.ts";
import type { ServiceFault } from "./fault.ts";
import type { PortPair } from "./objects.ts";
import { type Position, storedPosition } from "./position.ts";
import { isOtherTarget, type SleptTarget } from "./slept-target.ts";
import type { Cause, Move, Observation, StageName } from "./stage.ts";

type Status = StatusFor<typeof ElastiService>;
type Conditions = NonNullable<Status["conditions"]>;

const causes: Readonly<Record<Cause, string>> = {
  Idle: "it is idle",
  RequestArrived: "a request came",
  WakeWanted: "a trigger, a schedule or a dependent wants it awake",
  SleepNotWanted: "it is not to sleep any more",
  ResolverInPath: "connections reach the resolver",
  TrafficMoved: "all connections reach the resolver",
  Quiet: "no request came meanwhile",
  InFlightDone: "no request is in flight",
  ScaledToZero: "its target is scaled to zero",
  PodsGone: "pods have ended",
  PodsReady: "a pod is ready",
  PodsNotReady: "no pod is ready",
  PodsServe: "connections reach the pods",
  ScaledByOthers: "others changed the scale",
  ResolverUnavailable: "no resolver is ready",
  ProofTimedOut: "the traffic did not move in time",
  KeptInPath: "a traffic trigger keeps the resolver in the path",
};

const stages: Readonly<Record<StageName, string>> = {
  Serving: "requests go straight to the pods",
  Joining: "the resolver joins the Service",
  Diverting: "the pods leave the Service and run on",
  Relaying: "requests go through the resolver to the pods",
  Holding: "the resolver forwards nothing more",
  ScalingDown: "the target is being scaled to zero",
  Terminating: "the pods end",
  Asleep: "the target is at zero; a request wakes it",
  Waking: "the target starts; requests wait",
  Returning: "the pods are back in the Service, beside the resolver",
};

const warnings: readonly Cause[] = ["ResolverUnavailable", "ProofTimedOut", "PodsNotReady"];

/** What is reported about a move. */
export function eventOf({ stage, cause }: Move): EventInput {
  return {
    type: warnings.includes(cause) ? "Warning" : "Normal",
    reason: stage.at,
    message: `${causes[cause]}: ${stages[stage.at]}`,
  };
}

/** What a status is made of. */
export interface StatusFacts {
  readonly elasti: ElastiServiceObject;
  readonly position: Position;
  readonly restsAt: Observation["restsAt"];
  readonly ports: readonly PortPair[];
  /** Whether the resolver is in the Service, as seen. */
  readonly isResolverInService: boolean;
  readonly seen: Pick<Observation, "replicas" | "pods" | "resolver">;
  /** What is asleep by this operator's doing. */
  readonly sleptTarget: SleptTarget | undefined;
  readonly move?: Move;
  /** Where it was before the move. */
  readonly from?: StageName;
  /** When triggers last saw that it is used. */
  readonly usedAt?: number;
  /** Why a trigger has no answer. */
  readonly triggerFault?: string | undefined;
  readonly now: Date;
}

/** The status of a service that is all right. */
export function statusOf(facts: StatusFacts): Status {
  const { elasti, position, restsAt, ports, seen, move, now } = facts;
  const before = elasti.status ?? {};
  const isWoken =
    move !== undefined && ["RequestArrived", "WakeWanted", "ScaledByOthers"].includes(move.cause);
  const scaledUp = isWoken ? now.toISOString() : before.lastScaledUpTime;
  const reconciled =
    move || before.lastReconciledTime === undefined ? now.toISOString() : before.lastReconciledTime;
  return {
    ...storedPosition(position, restsAt),
    mode: facts.isResolverInService ? "proxy" : "serve",
    ports: [...ports],
    ...(facts.sleptTarget && { sleptTarget: facts.sleptTarget }),
    targetReplicas: seen.replicas,
    readyReplicas: seen.pods.filter(({ isReady }) => isReady).length,
    lastReconciledTime: reconciled,
    ...(scaledUp !== undefined && { lastScaledUpTime: scaledUp }),
    ...(elasti.spec.wakeAhead && { neededTimes: neededTimes(facts) }),
    conditions: [...conditionsOf(position, seen), pathConditionOf(facts), ...triggerConditionOf(facts)],
  };
}

/** What the operator's connections to the Service failed to show, by the stage that waits. */
const unproven: Readonly<Partial<Record<StageName, string>>> = {
  Joining: "no connection of the operator to the Service reached the resolver",
  Diverting: "connections of the operator to the Service still reached something else than the resolver",
  Returning: "no connection of the operator to the Service reached a pod",
};

/**
 * Whether the operator could prove where connections lead. What one stage failed to prove is kept
 * until the same stage proves it.
 */
function pathConditionOf({ elasti, move, from = "Serving" }: StatusFacts): Conditions[number] {
  const before = elasti.status?.conditions?.find(({ type }) => type === "PathProven");
  const what = unproven[from];
  if (move?.cause === "ProofTimedOut" && what !== undefined)
    return condition(
      "PathProven",
      false,
      from,
      `${what} in time: look at NetworkPolicies and at the nodes' rules`,
    );
  const isProven =
    from === before?.reason && ["ResolverInPath", "TrafficMoved", "PodsServe"].includes(move?.cause ?? "");
  return before?.status === "False" && !isProven
    ? condition("PathProven", false, before.reason, before.message)
    : condition("PathProven", true, "AsExpected");
}

/**
 * Without an answer of its triggers a service is not put to sleep, which would go unnoticed
 * otherwise.
 */
function triggerConditionOf({ elasti, triggerFault }: StatusFacts): Conditions {
  if (!elasti.spec.triggers && !elasti.spec.enabledPeriod) return [];
  return [
    triggerFault === undefined
      ? condition("TriggersAnswer", true, "AsExpected")
      : condition("TriggersAnswer", false, "NoAnswer", `the service stays as it is: ${triggerFault}`),
  ];
}

const sleeping: readonly StageName[] = ["ScalingDown", "Terminating", "Asleep"];

/**
 * When it was needed: a request woke it, or it was first used after it was woken for another
 * reason.
 */
function neededTimes({ elasti, move, from, usedAt, now }: StatusFacts): string[] {
  const before = elasti.status?.neededTimes ?? [];
  const history = before.map((time) => Date.parse(time));
  const woken = Date.parse(elasti.status?.lastScaledUpTime ?? "");
  const add = (atMs: number) => withNeed(history, atMs).map((at) => new Date(at).toISOString());
  if (move?.cause === "RequestArrived" && from !== undefined && sleeping.includes(from))
    return add(now.getTime());
  return usedAt !== undefined && isNewNeed(history, woken, usedAt) ? add(usedAt) : [...before];
}

function conditionsOf({ stage: { at } }: Position, seen: StatusFacts["seen"]): Conditions {
  const isAsleep = at === "Asleep" || at === "Terminating";
  const isAwake = seen.pods.some(({ isReady }) => isReady) && !isAsleep && at !== "ScalingDown";
  const isResolverGone = seen.resolver === "absent";
  const isReady = (isAsleep || isAwake) && !isResolverGone;
  const reason = isResolverGone ? "ResolverUnavailable" : at;
  const message = isResolverGone ? "no resolver is ready: the target is kept awake" : stages[at];
  return [
    condition("Ready", isReady, reason, message),
    condition("Active", isAwake, at, stages[at]),
    condition("ScaledToZero", isAsleep, at, stages[at]),
    condition("Degraded", isResolverGone, isResolverGone ? "ResolverUnavailable" : "AsExpected"),
  ];
}

/** The status of a service that cannot be acted upon: where it was, and what is wrong. */
export function faultyStatusOf(
  { status = {}, spec }: ElastiServiceObject,
  { reason, message }: ServiceFault,
): Status {
  const { conditions: before, observedGeneration: _generation, sleptTarget, ...kept } = status;
  const path = before?.find(({ type }) => type === "PathProven");
  return {
    ...kept,
    // One that the spec names no longer has been restored by now.
    ...(sleptTarget && !isOtherTarget(sleptTarget, spec) && { sleptTarget }),
    conditions: [
      condition("Ready", false, reason, message),
      condition("Active", "Unknown", reason),
      condition("ScaledToZero", "Unknown", reason),
      condition("Degraded", true, reason, message),
      ...(path?.status === "False" ? [condition("PathProven", false, path.reason, path.message)] : []),
    ],
  };
}
