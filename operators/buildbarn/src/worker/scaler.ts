import { isNotFound, type ObjectOf, type ReconcileContext } from "@windlass/runtime";
import type { Deployment } from "@windlass/runtime/kinds";
import { Pod } from "@windlass/runtime/kinds";
import { GrpcError, type GrpcServer } from "../grpc/index.ts";
import { BuildQueue, type Queue, type QueueSeen } from "../queue/index.ts";
import { drainMarks, marksOf } from "./drain-marks.ts";
import {
  type PodSeen,
  type QueueSight,
  type ScalingPlan,
  type ScalingRules,
  type ScalingState,
  scalingPlan,
} from "./scaling.ts";

type PodObject = ObjectOf<typeof Pod>;

/** What workers are scaled by. */
export interface ScaleInput {
  /** The scheduler's BuildQueueState. */
  readonly server: GrpcServer;
  readonly queue: Queue;
  readonly rules: ScalingRules;
  readonly state: ScalingState | undefined;
  readonly deployment: ObjectOf<typeof Deployment> | undefined;
  readonly pods: readonly PodObject[];
  /** How many resources with pods of the same queue are scaled by it, this one included. */
  readonly sharers: number;
  /** Pods that were drained before, whether they are still there or not. */
  readonly draining: readonly string[];
}

/** What scaling came to. */
export interface Scaled {
  readonly plan: ScalingPlan;
  /** Pods that are drained, and those whose drain could not be removed yet. */
  readonly draining: readonly string[];
  /** Undefined if the queue did not have to be read. */
  readonly sight: QueueSight | undefined;
  readonly executing: number;
  /** Why the scheduler could not be asked. */
  readonly fault: string | undefined;
}

type Context = Pick<ReconcileContext, "client" | "clock" | "signal" | "log">;

/** How long a scheduler may take to answer. */
const ANSWER_MS = 5_000;

/**
 * Looks at the queue, decides, and has those pods marked and drained that are to go. The
 * outcome for the Deployment is in the plan: the caller applies it after.
 */
export async function scale(input: ScaleInput, context: Context): Promise<Scaled> {
  const { rules, state, deployment, pods } = input;
  const replicas = deployment?.spec?.replicas ?? (rules.by === "replicas" ? rules.replicas : rules.min);
  const now = context.clock.now();
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const mustAsk =
    rules.by === "queue" ||
    replicas > rules.replicas ||
    input.draining.length > 0 ||
    pods.some((pod) => marksOf(pod).markedAt !== undefined);
  using queue = new BuildQueue(input.server);
  const looked = mustAsk ? await look(queue, input, context) : undefined;
  const seen = looked !== undefined && "pods" in looked ? looked : undefined;
  const sight = seen && sightOf(seen, input.sharers);
  const isRollingOut = (deployment?.status?.replicas ?? 0) !== (deployment?.status?.updatedReplicas ?? 0);
  const podsSeen = pods.map((pod) => podSeen(pod, seen));
  const plan = scalingPlan(
    state,
    { now, replicas, isRollingOut, pods: podsSeen, queue: sight ?? { is: "unknown" } },
    rules,
  );
  const marked = [
    ...plan.mark,
    ...podsSeen.flatMap(({ name, markedAt }) =>
      markedAt !== undefined && !plan.unmark.includes(name) ? [name] : [],
    ),
  ];
  let fault = looked !== undefined && "fault" in looked ? looked.fault : undefined;
  let undrained: readonly string[] = [];
  if (seen?.exists) {
    // It may have answered the look, and hang now.
    const within = AbortSignal.any([context.signal, AbortSignal.timeout(ANSWER_MS)]);
    try {
      await carryOut(plan, queue, input, { ...context, signal: within });
      undrained = await removeDrains(queue, input, names, within);
    } catch (error) {
      fault = faultOf(error, context.signal, within);
    }
  }
  const gone = input.draining.filter((name) => !names.has(name) && !undrained.includes(name));
  const kept = fault === undefined ? [] : input.draining.filter((name) => plan.unmark.includes(name));
  return {
    // A drain that did not reach the scheduler has not kept new actions from any pod.
    plan:
      fault === undefined
        ? plan
        : { ...plan, replicas: Math.max(plan.replicas, rules.by === "queue" ? replicas : 0) },
    draining: [...new Set([...marked, ...gone, ...kept])].toSorted(),
    sight: mustAsk ? (sight ?? { is: "unknown" }) : undefined,
    executing: podsSeen.reduce((sum, { executing }) => sum + executing, 0),
    fault,
  };
}

async function look(
  queue: BuildQueue,
  { queue: name, rules }: ScaleInput,
  { signal }: Context,
): Promise<QueueSeen | { readonly fault: string }> {
  const most = rules.by === "queue" ? rules.max * rules.concurrency : 1;
  const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    return await queue.look(name, most, within);
  } catch (error) {
    return { fault: faultOf(error, signal, within) };
  }
}

/**
 * Why the scheduler did not do as it was asked.
 *
 * @throws whatever else it was, and the signal's reason.
 */
function faultOf(error: unknown, signal: AbortSignal, within: AbortSignal): string {
  signal.throwIfAborted();
  if (error instanceof GrpcError) return error.message;
  if (within.aborted) return `no answer within ${ANSWER_MS / 1_000} s`;
  throw error;
}

/** Each of those that share a queue runs its part of what waits. */
function sightOf({ exists, queued }: QueueSeen, sharers: number): QueueSight {
  return exists ? { is: "known", queued: Math.ceil(queued / sharers) } : { is: "missing" };
}

function podSeen(pod: PodObject, seen: QueueSeen | undefined): PodSeen {
  const { name, deletionTimestamp } = pod.metadata;
  const work = seen?.pods.find((one) => one.name === name);
  return {
    name,
    isTerminating: deletionTimestamp !== undefined,
    isReady:
      pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false,
    ...marksOf(pod),
    executing: work?.executing ?? 0,
    isDrained: work?.isDrained ?? seen?.drains.includes(name) ?? false,
  };
}

/**
 * Marks before it drains, and undrains before it takes a mark away: what is drained always has a
 * mark.
 */
async function carryOut(
  { mark, first, notFirst, unmark }: ScalingPlan,
  queue: BuildQueue,
  { queue: name, pods }: ScaleInput,
  context: Context,
): Promise<void> {
  const { clock, signal } = context;
  const now = new Date(clock.now());
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  for (const one of mark) {
    const pod = byName.get(one);
    if (pod) await annotate(pod, drainMarks.draining(now), context);
    await queue.drain(name, one, signal);
  }
  const marked = (names: readonly string[]) => names.flatMap((one) => byName.get(one) ?? []);
  for (const pod of marked(first)) await annotate(pod, drainMarks.idle(now), context);
  for (const pod of marked(notFirst)) await annotate(pod, drainMarks.notIdle(now), context);
  for (const one of unmark) {
    await queue.undrain(name, one, signal);
    const pod = byName.get(one);
    if (!pod) continue;
    const wasFirst = marksOf(pod).firstAt !== undefined;
    await annotate(pod, { ...(wasFirst && drainMarks.notIdle(now)), ...drainMarks.none }, context);
  }
}

/** Removes the drains of pods that have gone: a scheduler keeps them for ever. @returns whose. */
async function removeDrains(
  queue: BuildQueue,
  { queue: name, draining }: ScaleInput,
  present: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const gone = draining.filter((one) => !present.has(one));
  for (const one of gone) await queue.undrain(name, one, signal);
  return gone;
}

async function annotate(
  { metadata: { namespace, name, uid } }: PodObject,
  annotations: Readonly<Record<string, string | null>>,
  { client }: Context,
): Promise<void> {
  const patch = { metadata: { annotations, ...(uid && { uid }) } };
  try {
    await client.patch(Pod, { namespace, name }, { type: "merge", patch });
  } catch (error) {
    // It went by itself.
    if (!isNotFound(error)) throw error;
  }
}
