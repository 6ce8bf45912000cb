import { milliseconds } from "@windlass/clock";
import { isReady, type ObjectOf, type ReconcileContext, timestamp } from "@windlass/runtime";
import { Deployment } from "@windlass/runtime/kinds";
import type { Held } from "../component/index.ts";
import { ports } from "../configuration/index.ts";
import { GrpcError } from "../grpc/index.ts";
import { revisionAnnotation } from "../names.ts";
import { BuildQueue } from "../queue/index.ts";
import {
  type BuildbarnSet,
  connectionTo,
  type OperatorCertificate,
  SetFault,
  withoutCertificate,
} from "../set/index.ts";
import { type Answer, type Restart, type RestartSeen, step, type Task, taskOf } from "./restart.ts";
import type { Scheduler } from "./scheduler.ts";

/** What the operator needs to reach the queues of schedulers. */
export interface QueueDependencies {
  /** `host:port` of a scheduler's BuildQueueState. @default that of its Service */
  readonly queueAddress?: (scheduler: Scheduler) => string | Promise<string>;
  /**
   * What the operator shows to sets that use TLS among themselves.
   *
   * @default what is mounted in its pod
   */
  readonly certificate?: OperatorCertificate;
}

/** What a restart of a scheduler stands on. */
export interface RestartDependencies extends QueueDependencies {
  /**
   * For how long a scheduler that is to restart is waited for if it does not answer.
   *
   * @default 15_000
   */
  readonly silentMs?: number;
}

/** How far a restart has come, and what holds it. */
export interface RestartLook {
  readonly state: Restart | undefined;
  /** Why the scheduler is not restarted yet. */
  readonly held: Held | undefined;
}

/** How soon a scheduler whose workers are drained is asked again. */
export const drainLookMs = 1_000;
/** How long a scheduler may take to answer. */
const ANSWER_MS = 5_000;
const DEFAULT_SILENT_MS = 15_000;

/** Has the workers of a scheduler end what they run before a change restarts it. */
export async function restartOf(
  scheduler: Scheduler,
  set: BuildbarnSet,
  {
    deployment,
    isDue,
  }: { readonly deployment: ObjectOf<typeof Deployment> | undefined; readonly isDue: boolean },
  context: Pick<ReconcileContext, "clock" | "signal">,
  dependencies: RestartDependencies,
): Promise<RestartLook> {
  const { spec } = scheduler;
  const stored = storedRestart(scheduler);
  const seen: RestartSeen = {
    isDue,
    serving: deployment?.spec?.template.metadata?.annotations?.[revisionAnnotation] ?? "",
    isUp: deployment !== undefined && isReady(Deployment, deployment),
    isStopped: spec.replicas === 0 || deployment === undefined,
    now: context.clock.now(),
    drainMs: milliseconds(spec.drainTimeout, "spec.drainTimeout"),
    silentMs: dependencies.silentMs ?? DEFAULT_SILENT_MS,
  };
  const answer = await ask(taskOf(stored, seen), scheduler, set, context.signal, dependencies);
  const { state, mayRestart } = step(stored, answer, seen);
  return { state, held: mayRestart || !state ? undefined : heldBy(state, answer, seen) };
}

function heldBy({ since }: Restart, answer: Answer | undefined, { drainMs }: RestartSeen): Held {
  const end = timestamp(since + drainMs);
  const why =
    answer?.is === "silent"
      ? `it cannot be asked: ${answer.why}`
      : `${answer ? `${answer.executing} actions run` : "workers get no new actions"}`;
  return {
    reason: "DrainingWorkers",
    message: `a change restarts the scheduler once its workers are idle, or at ${end}; ${why}`,
    isFault: false,
  };
}

async function ask(
  task: Task,
  scheduler: Scheduler,
  set: BuildbarnSet,
  signal: AbortSignal,
  { queueAddress, certificate }: QueueDependencies,
): Promise<Answer | undefined> {
  if (!task) return undefined;
  const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const { name, namespace } = scheduler.metadata;
    const address = (await queueAddress?.(scheduler)) ?? `${name}.${namespace}.svc:${ports.schedulerState}`;
    const connection = await connectionTo(set, certificate);
    try {
      using queue = new BuildQueue({ address, ...connection });
      if (task === "drain") return { is: "done", executing: await queue.drainAll(within) };
      await queue.undrainAll(within);
      return { is: "done", executing: 0 };
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      return { is: "silent", why: withoutCertificate(error.message, connection) };
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SetFault) return { is: "silent", why: error.message };
    if (within.aborted) return { is: "silent", why: `no answer within ${ANSWER_MS / 1_000} s` };
    throw error;
  }
}

function storedRestart({ status }: Scheduler): Restart | undefined {
  if (!status?.restart) return undefined;
  const { serving, since, silentSince } = status.restart;
  return {
    serving,
    since: Date.parse(since),
    ...(silentSince !== undefined && { silentSince: Date.parse(silentSince) }),
  };
}

/** A restart as it is stored. */
export function restartStatus({ serving, since, silentSince }: Restart) {
  return {
    serving,
    since: timestamp(since),
    ...(silentSince !== undefined && { silentSince: timestamp(silentSince) }),
  };
}
