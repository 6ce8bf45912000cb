import type { Dispatch } from "../resolver/targets.ts";

/**
 * Where a service is between awake and asleep. It is stored in the status before anything is done
 * about it, so the next leader after a crash goes on from there.
 *
 * - `Serving`: the Service leads to the pods, and the resolver is out of the path.
 * - `Joining`: the resolver is an endpoint of the Service beside the pods.
 * - `Diverting`: the pods leave the Service, and run on.
 * - `Relaying`: all traffic goes through the resolver to pods that run.
 * - `Holding`: the resolver forwards nothing more, and what it forwarded ends.
 * - `ScalingDown`: the target is being scaled to zero.
 * - `Terminating`: it is scaled to zero, and its pods end.
 * - `Asleep`: there are no pods. Requests wait in the resolver and wake the target.
 * - `Waking`: the target is scaled up, or its pods are not ready for a reason of their own.
 * - `Returning`: pods are ready and back in the Service, beside the resolver.
 */
export type Stage =
  | { readonly at: "Serving" }
  | { readonly at: "Joining" }
  | { readonly at: "Diverting" }
  | { readonly at: "Relaying" }
  | { readonly at: "Holding"; readonly retired: RetiredPods }
  | { readonly at: "ScalingDown"; readonly retired: RetiredPods }
  | { readonly at: "Terminating"; readonly retired: RetiredPods }
  | { readonly at: "Asleep" }
  | {
      readonly at: "Waking";
      /** `requests`: it must be scaled up. `readiness`: it has replicas, of which none is ready. */
      readonly for: "requests" | "readiness";
      readonly retired: RetiredPods;
    }
  | { readonly at: "Returning" };

/** UIDs of pods that are about to end, and may still look ready. They get no more requests. */
export type RetiredPods = readonly string[];

/** The name of a stage. */
export type StageName = Stage["at"];

/** A pod of the target, as the EndpointSlices of its private Service show it. */
export interface TargetPod {
  readonly uid: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
}

/** What is known at one moment. */
export interface Observation {
  /** How long the service has been in its stage. */
  readonly elapsedMs: number;
  /** Where an awake service is: off the resolver, or always behind it. */
  readonly restsAt: "Serving" | "Relaying";
  /** What triggers, schedules and people ask for. `stay` leaves it as it is. */
  readonly wish: "sleep" | "stay" | "wake";
  /** Whether the target was asked for since the last rest. */
  readonly hasDemand: boolean;
  /** What the target's scale asks for. */
  readonly replicas: number;
  readonly pods: readonly TargetPod[];
  /** `restarting`: no replica of the resolver is ready, but only just. `absent`: for longer. */
  readonly resolver: "ready" | "restarting" | "absent";
  /**
   * Whether the Service's own EndpointSlices have followed its selector: they list the ready pods,
   * or nothing while the pods are out of the Service.
   */
  readonly haveSlicesFollowed: boolean;
  /** Whether what the stage waits for is proven: see {@link proofOf}. */
  readonly isProven: boolean;
}

/** Why a service goes to another stage. */
export type Cause =
  | "Idle"
  | "RequestArrived"
  | "WakeWanted"
  | "SleepNotWanted"
  | "ResolverInPath"
  | "TrafficMoved"
  | "Quiet"
  | "ScaledToZero"
  | "InFlightDone"
  | "PodsGone"
  | "PodsReady"
  | "PodsNotReady"
  | "PodsServe"
  | "ScaledByOthers"
  | "ResolverUnavailable"
  | "ProofTimedOut"
  | "KeptInPath";

/** A step to another stage. */
export interface Move {
  readonly stage: Stage;
  readonly cause: Cause;
}

/** How long the steps may take. */
export interface Patience {
  /** How long the resolver alone takes new connections before the pods may go. */
  readonly settleMs: number;
  /** How long a proof may take before the sleep is given up, or a wake does without it. */
  readonly proofMs: number;
  /** How long a pod that was asked to stop must stay ready to count as one that runs on. */
  readonly reprieveMs: number;
  /** How long a deletion waits for its target while no requests do. @default 30_000 */
  readonly drainMs?: number;
}

/** What must hold in the cluster while a service is in a stage. */
export interface Arrangement {
  /** Whether the resolver is an endpoint of the Service. */
  readonly resolverInService: boolean;
  /** Whether the pods are. */
  readonly podsInService: boolean;
  /** What the resolver does. */
  readonly dispatch: Dispatch;
  readonly scale: "zero" | "up" | "leave";
}

/**
 * What a stage asks for. Each is reached by idempotent writes, so a crash between them is repaired
 * by the next look.
 */
export function arrangementOf(stage: Stage, restsAt: Observation["restsAt"]): Arrangement {
  const relayed = {
    resolverInService: true,
    podsInService: false,
    dispatch: "forward",
    scale: "leave",
  } as const;
  const rested = { ...relayed, podsInService: restsAt === "Serving" };
  switch (stage.at) {
    case "Serving":
      return { resolverInService: false, podsInService: true, dispatch: "hand-back", scale: "leave" };
    case "Joining":
    case "Returning":
      return { ...relayed, podsInService: true };
    case "Diverting":
    case "Relaying":
      return relayed;
    case "Holding":
    case "Terminating":
      return { ...relayed, dispatch: "hold" };
    case "ScalingDown":
      return { ...relayed, dispatch: "hold", scale: "zero" };
    case "Asleep":
      return rested;
    case "Waking":
      // A pod that was asked to stop must not come back into the Service while it still looks
      // ready.
      return {
        ...rested,
        podsInService: rested.podsInService && stage.retired.length === 0,
        scale: stage.for === "requests" ? "up" : "leave",
      };
  }
}

/**
 * What a stage waits for, besides what the objects show.
 *
 * - `presence`: a connection to the Service reaches the resolver.
 * - `exclusivity`: so many connections in a row reach the resolver that no pod is left in the
 *   rules.
 * - `quiet`: every replica of the resolver holds, and has nothing in flight.
 * - `pod`: a connection to the Service reaches something that is not the resolver.
 */
export function proofOf({ at }: Stage): "presence" | "exclusivity" | "quiet" | "pod" | undefined {
  switch (at) {
    case "Joining":
      return "presence";
    case "Diverting":
      return "exclusivity";
    case "Holding":
      return "quiet";
    case "Returning":
      return "pod";
    default:
      return undefined;
  }
}

/** Decides where a service goes next; undefined if it stays. Pure: all IO is in the controller. */
export function step(stage: Stage, seen: Observation, patience: Patience): Move | undefined {
  switch (stage.at) {
    case "Serving":
    case "Returning":
      return withoutPods(seen) ?? stepAmongPods(stage, seen, patience);
    case "Joining":
    case "Diverting":
    case "Relaying":
    case "Holding":
      return withoutPods(seen) ?? stepFallingAsleep(stage, seen, patience);
    case "ScalingDown":
      if (isWanted(seen)) return waking("requests", stage.retired, causeOfWaking(seen));
      return seen.replicas === 0
        ? { stage: { at: "Terminating", retired: stage.retired }, cause: "ScaledToZero" }
        : undefined;
    case "Terminating":
      if (isWanted(seen)) return waking("requests", stage.retired, causeOfWaking(seen));
      if (seen.replicas > 0) return waking("readiness", stage.retired, "ScaledByOthers");
      return seen.pods.length === 0 ? { stage: { at: "Asleep" }, cause: "PodsGone" } : undefined;
    case "Asleep":
      if (isWanted(seen)) return waking("requests", [], causeOfWaking(seen));
      return seen.replicas > 0 ? waking("readiness", [], "ScaledByOthers") : undefined;
    case "Waking":
      return stepWaking(stage, seen, patience);
  }
}

/**
 * What happens to a service whose target is scaled to zero by others, or has no pod that is
 * ready.
 */
function withoutPods(seen: Observation): Move | undefined {
  const retired = seen.pods.map(({ uid }) => uid);
  if (seen.replicas === 0 && isWanted(seen)) return waking("requests", retired, causeOfWaking(seen));
  if (seen.replicas === 0) return { stage: { at: "Terminating", retired }, cause: "ScaledByOthers" };
  return hasReadyPod(seen) ? undefined : waking("readiness", [], "PodsNotReady");
}

function stepAmongPods({ at }: Stage, seen: Observation, patience: Patience): Move | undefined {
  if (at === "Returning" && seen.haveSlicesFollowed && seen.restsAt === "Serving") {
    if (seen.isProven) return { stage: { at: "Serving" }, cause: "PodsServe" };
    // The pods are in the Service, and nodes follow it in the order of its changes. What is missing
    // is the operator's own connection to a pod, which a NetworkPolicy may forbid for ever.
    if (seen.elapsedMs >= patience.proofMs) return { stage: { at: "Serving" }, cause: "ProofTimedOut" };
  }
  if (seen.resolver !== "ready") return undefined;
  if (seen.restsAt === "Relaying") return { stage: { at: "Joining" }, cause: "KeptInPath" };
  const isIdle = at === "Serving" && seen.wish === "sleep" && !seen.hasDemand;
  return isIdle ? { stage: { at: "Joining" }, cause: "Idle" } : undefined;
}

type FallingAsleep = Extract<Stage, { at: "Joining" | "Diverting" | "Relaying" | "Holding" }>;

/**
 * Until the target is scaled down, every step can be taken back, and is as soon as anything speaks
 * against it.
 */
function stepFallingAsleep(stage: FallingAsleep, seen: Observation, patience: Patience): Move | undefined {
  if (seen.resolver !== "ready") return { stage: { at: "Returning" }, cause: "ResolverUnavailable" };
  const objection = objectionTo(seen);
  // A service that rests behind the resolver goes on until it is there, whatever is asked of it.
  const isBoundForRest = seen.restsAt === "Relaying" && stage.at !== "Holding";
  if (objection && !isBoundForRest)
    return maySelectAgain(seen, patience) ? backToRest(seen, objection) : undefined;
  if (proofOf(stage) !== undefined && !seen.isProven) {
    const isOver = seen.elapsedMs >= patience.proofMs && !isBoundForRest;
    return isOver ? backToRest(seen, "ProofTimedOut") : undefined;
  }
  switch (stage.at) {
    case "Joining":
      return { stage: { at: "Diverting" }, cause: "ResolverInPath" };
    case "Diverting":
      return { stage: { at: "Relaying" }, cause: "TrafficMoved" };
    case "Relaying":
      if (objection || seen.elapsedMs < patience.settleMs) return undefined;
      return { stage: { at: "Holding", retired: seen.pods.map(({ uid }) => uid) }, cause: "Quiet" };
    case "Holding":
      return { stage: { at: "ScalingDown", retired: stage.retired }, cause: "InFlightDone" };
  }
}

function stepWaking(
  stage: Extract<Stage, { at: "Waking" }>,
  seen: Observation,
  patience: Patience,
): Move | undefined {
  if (stage.for === "readiness" && seen.replicas === 0) return withoutPods(seen);
  // Pods that were not deleted after all serve on, once it is certain that they will not be.
  const isReprieved = seen.replicas > 0 && seen.elapsedMs >= patience.reprieveMs;
  const retired = isReprieved ? [] : stage.retired.filter((uid) => isDoomed(seen.pods, uid));
  if (retired.length < stage.retired.length && maySelectAgain(seen, patience))
    return waking(stage.for, retired, "PodsGone");
  if (retired.length > 0 || seen.replicas === 0 || !hasReadyPod(seen)) return undefined;
  return { stage: { at: seen.restsAt === "Serving" ? "Returning" : "Relaying" }, cause: "PodsReady" };
}

/**
 * Whether the selector may change back. If it changed twice before the EndpointSlice controller had
 * followed once, the pods could leave the Service late, after the resolver has left it too.
 */
function maySelectAgain(seen: Observation, patience: Patience): boolean {
  return seen.haveSlicesFollowed || seen.elapsedMs >= patience.proofMs;
}

/** Still there, and not yet seen to end: it must get nothing more. */
function isDoomed(pods: readonly TargetPod[], uid: string): boolean {
  return pods.some((pod) => pod.uid === uid && !pod.isTerminating);
}

function backToRest({ restsAt }: Observation, cause: Cause): Move {
  return { stage: { at: restsAt === "Relaying" ? "Relaying" : "Returning" }, cause };
}

function waking(reason: "requests" | "readiness", retired: readonly string[], cause: Cause): Move {
  return { stage: { at: "Waking", for: reason, retired }, cause };
}

/** What speaks against going on to sleep. */
function objectionTo({ hasDemand, wish }: Observation): Cause | undefined {
  if (hasDemand) return "RequestArrived";
  return wish === "sleep" ? undefined : "SleepNotWanted";
}

/**
 * Whether a target must be up. Without a resolver nothing would wake it: it must not sleep then.
 */
function isWanted({ hasDemand, wish, resolver }: Observation): boolean {
  return hasDemand || wish === "wake" || resolver === "absent";
}

function causeOfWaking({ hasDemand, wish }: Observation): Cause {
  if (hasDemand) return "RequestArrived";
  return wish === "wake" ? "WakeWanted" : "ResolverUnavailable";
}

function hasReadyPod({ pods }: Observation): boolean {
  return pods.some((pod) => pod.isReady && !pod.isTerminating);
}
