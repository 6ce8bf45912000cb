import { cachedClient } from "../reconcile/client.ts";
import { messageOf } from "../reconcile/errors.ts";
import type { ReconcilerWorld } from "../reconcile/run.ts";
import { RunnableError } from "./errors.ts";
import type { HealthChecks } from "./health.ts";
import type { LiveParts } from "./live.ts";
import type { Runnable, RunnableContext, Stage } from "./runnable.ts";

/** What the runnables of a stage are started with. */
export interface StageParts {
  readonly world: Omit<ReconcilerWorld, "metrics">;
  readonly live: LiveParts;
  readonly readyz: HealthChecks;
  readonly registry: RunnableContext["metrics"];
  readonly isLeading: () => boolean;
  /** Once aborted, nothing more is started. */
  readonly stop: AbortSignal;
}

/**
 * Starts the runnables of one stage, one after the other. Of those that start when this replica leads, one that fails shows in the
 * readiness probe and holds up nothing else. One that fails because it was told to stop has not failed.
 *
 * @throws RunnableError if one of another stage does not start.
 */
export async function startStage(
  stage: Stage,
  runnables: readonly Runnable[],
  { world, live, readyz, registry, isLeading, stop }: StageParts,
): Promise<void> {
  for (const runnable of runnables) {
    if (stop.aborted) return;
    if ((runnable.stage ?? "leader") !== stage) continue;
    const abort = new AbortController();
    const undo: (() => void)[] = [];
    const context: RunnableContext = {
      // Webhooks start before the caches are there to be read from.
      client: cachedClient(stage === "webhook" ? { ...world, isCached: () => false } : world),
      cache: world.cache,
      log: world.log.child({ runnable: runnable.name }),
      metrics: registry,
      clock: world.clock,
      random: world.random,
      signal: abort.signal,
      isLeading,
      addReadyCheck: (name, check) => undo.push(readyz.add(name, check)),
    };
    let end: unknown;
    live.add(runnable.name, async () => {
      abort.abort(new Error(`${runnable.name} is stopping`));
      for (const one of undo) one();
      if (typeof end === "function") await end();
    });
    try {
      end = await runnable.start(context);
      // Stopped while it was starting: nobody else will call it.
      if (abort.signal.aborted && typeof end === "function") await end();
    } catch (error) {
      if (abort.signal.aborted) {
        context.log.debug({ error: messageOf(error) }, `${runnable.name} was stopped while it was starting`);
        continue;
      }
      const fault = `could not start: ${messageOf(error)}`;
      if (stage !== "leader") throw new RunnableError(`${runnable.name} ${fault}`, { cause: error });
      undo.push(readyz.add(runnable.name.replaceAll(/[^A-Za-z0-9._-]/g, "-"), () => fault));
      context.log.error({ error: messageOf(error) }, `${runnable.name} could not start`);
    }
  }
}
