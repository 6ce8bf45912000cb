import type { ObjectKey } from "@windlass/client";
import { sleep } from "@windlass/clock";
import type { Logger } from "../logging/logger.ts";
import { messageOf } from "../reconcile/errors.ts";
import type { Source, SourceContext } from "./source.ts";

const backoff = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Runs a source until it ends or its signal is aborted, whether it heeds that or not: one that
 * waits indefinitely must not hold up the end of its controller. A function that fails is started
 * again. Never rejects.
 */
export async function runSource(source: Source, context: SourceContext): Promise<void> {
  const { signal, clock, log } = context;
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  for (let wait = backoff.firstMs; !signal.aborted; wait = Math.min(wait * 2, backoff.maxMs)) {
    try {
      await Promise.race([runOnce(source, context), stopped]);
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.error(
        { error: messageOf(error) },
        typeof source === "function"
          ? `a source failed; starting it again in ${wait / 1000} s`
          : "a source failed and cannot be started again",
      );
      if (typeof source !== "function") return;
      await sleep(clock, wait, signal).catch(() => undefined);
    }
  }
}

async function runOnce(source: Source, context: SourceContext): Promise<void> {
  const run = typeof source === "function" ? await source(context) : source;
  if (typeof run === "function") endWith(context, run);
  else if (run) await pump(run, context);
}

async function pump(keys: AsyncIterable<ObjectKey>, context: SourceContext): Promise<void> {
  const iterator = keys[Symbol.asyncIterator]();
  const forget = endWith(context, () => iterator.return?.());
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      if (context.signal.aborted) return;
      context.enqueue(next.value);
    }
  } finally {
    forget();
  }
}

/** Has the source end when it is stopped, or now if it was. @returns the way to take that back. */
function endWith({ signal, log }: SourceContext, end: () => unknown): () => void {
  const onAbort = () => void stop(end, log);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

async function stop(end: () => unknown, log: Logger): Promise<void> {
  try {
    await end();
  } catch (error) {
    log.warn({ error: messageOf(error) }, "a source did not stop cleanly");
  }
}
