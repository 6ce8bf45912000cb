import { cachedClient } from "../reconcile/client.ts";
import { messageOf } from "../reconcile/errors.ts";
import type { ReconcilerDependencies } from "../reconcile/run.ts";
import { RunnableError } from "./errors.ts";
import type { HealthChecks } from "./health.ts";
import type { LiveParts } from "./live.ts";
import type { Runnable, RunnableContext, Stage } from "./runnable.ts";

/** A start that takes longer is logged. */
const SLOW_START_MS = 30_000;

/** What the runnables of a stage are started with. */
export interface StageParts {
  readonly dependencies: Omit<ReconcilerDependencies, "metrics">;
  readonly live: LiveParts;
  readonly readyz: HealthChecks;
  readonly registry: RunnableContext["metrics"];
  readonly isLeading: () => boolean;
  /** Once aborted, nothing more is started. */
  readonly stop: AbortSignal;
}

/**
 * Starts the runnables of one stage, one after the other. Of those that start when this replica
 * leads, one that fails shows in the readiness probe and delays nothing else. One that fails
 * because it was asked to stop has not failed.
 *
 * @throws RunnableError if one of another stage does not start.
 */
export async function startStage(
  stage: Stage,
  runnables: readonly Runnable[],
  parts: StageParts,
): Promise<void> {
  for (const runnable of runnables) {
    if (parts.stop.aborted) return;
    if ((runnable.stage ?? "leader") === stage) await startOne(stage, runnable, parts);
  }
}

async function startOne(stage: Stage, runnable: Runnable, parts: StageParts): Promise<void> {
  const { live, readyz, dependencies } = parts;
  const { name } = runnable;
  const abort = new AbortController();
  const { signal } = abort;
  const undo: (() => void)[] = [];
  const addReadyCheck: RunnableContext["addReadyCheck"] = (check, isWell) => {
    if (!signal.aborted) undo.push(readyz.add(check, isWell));
  };
  const context = contextFor(stage, name, parts, { signal, addReadyCheck });
  const started = Promise.withResolvers<void>();
  let end: unknown;
  live.add(name, async () => {
    abort.abort(new Error(`${name} is stopping`));
    for (const one of undo) one();
    // A part that is stopped while it starts is at work until that has ended.
    await started.promise;
    if (typeof end === "function") await end();
  });
  const cancelWarning = dependencies.clock.schedule(SLOW_START_MS, () =>
    context.log.warn(
      {},
      `${name} has been starting for ${SLOW_START_MS / 1000} s, and what was added after it waits: work that never ends belongs into a promise of its own, ended by context.signal`,
    ),
  );
  try {
    end = await runnable.start(context);
    if (stage !== "leader" && !signal.aborted) drainWhenStopping(runnable, parts);
  } catch (error) {
    if (signal.aborted) {
      context.log.debug({ error: messageOf(error) }, `${name} was stopped while it was starting`);
      return;
    }
    const fault = `could not start: ${messageOf(error)}`;
    if (stage !== "leader") throw new RunnableError(`${name} ${fault}`, { cause: error });
    addReadyCheck(name.replaceAll(/[^A-Za-z0-9._-]/g, "-"), () => fault);
    context.log.error({ error: messageOf(error) }, `${name} could not start`);
  } finally {
    cancelWarning();
    started.resolve();
  }
}

/**
 * Drains from the moment at which the manager is asked to stop: clients are sent elsewhere from
 * then on, however long the rest takes.
 */
function drainWhenStopping(runnable: Runnable, { live, readyz, stop }: StageParts): void {
  if (!runnable.drain) return;
  let draining: Promise<void> | undefined;
  const drain = async () => runnable.drain?.();
  const begin = () => {
    if (!readyz.hasPassed) return;
    draining = drain();
    // A failure is reported where it is awaited, which may be only after the reconciles under way
    // have ended.
    draining.catch(() => undefined);
  };
  stop.addEventListener("abort", begin, { once: true });
  live.addDrain(runnable.name, async () => draining);
}

function contextFor(
  stage: Stage,
  name: string,
  { dependencies, registry, isLeading }: StageParts,
  own: Pick<RunnableContext, "signal" | "addReadyCheck">,
): RunnableContext {
  return {
    // Webhooks start before the caches are there to be read from.
    client: cachedClient(stage === "webhook" ? { ...dependencies, isCached: () => false } : dependencies),
    cache: dependencies.cache,
    informer: dependencies.informer,
    log: dependencies.log.child({ runnable: name }),
    metrics: registry,
    clock: dependencies.clock,
    random: dependencies.random,
    isLeading,
    ...own,
  };
}
