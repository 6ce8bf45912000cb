import type { Logger } from "../logging/logger.ts";
import { rejectionCounter } from "../metrics/manager-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import { messageOf } from "../reconcile/errors.ts";

/** What a process is given over to. */
export interface ProcessParts {
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly isStopping: boolean;
  readonly registry: Registry;
  /** Once there is one. */
  readonly log: Logger | undefined;
}

/** The longest that Node takes for a timer. */
const AGES_MS = 2 ** 31 - 1;

/** How long a process that could not start is waited for to end by itself, before it is ended. */
const LINGER_MS = 5_000;

/**
 * Gives the process over to a manager: starts it, waits for the signal, SIGTERM or SIGINT, and
 * stops it. If it cannot start, one line says why, and the process ends with code 1.
 */
export async function runAsProcess(parts: ProcessParts, signal: AbortSignal | undefined): Promise<void> {
  const { promise: asked, resolve: ask } = Promise.withResolvers<string>();
  const rejections = rejectionCounter(parts.registry);
  const onSignal = (name: NodeJS.Signals) => {
    if (parts.isStopping) process.exit(1);
    ask(name);
  };
  const onRejection = (error: unknown) => {
    rejections.inc();
    parts.log?.error(
      { error: messageOf(error), ...(error instanceof Error ? { stack: error.stack } : {}) },
      "a rejection was not handled by anyone; await the promise, or catch it",
    );
  };
  const onAbort = () => ask("abort");
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("unhandledRejection", onRejection);
  signal?.addEventListener("abort", onAbort, { once: true });
  // A manager without a port or a watch has nothing open by which Node would know that it is still
  // at work.
  const stayAlive = setInterval(() => undefined, AGES_MS);
  try {
    if (!signal?.aborted && (await starts(parts, asked))) {
      const why = await asked;
      parts.log?.info({ signal: why }, "stopping");
    }
    await parts.stop();
  } finally {
    clearInterval(stayAlive);
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("unhandledRejection", onRejection);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** False if it could not start; that has been said then. */
async function starts(parts: ProcessParts, asked: Promise<string>): Promise<boolean> {
  try {
    await Promise.race([parts.start(), asked]);
    return true;
  } catch (error) {
    const log = parts.log ?? (await (await import("../logging/pino-logger.ts")).pinoLogger());
    const code = error instanceof Error && "code" in error ? { code: error.code } : {};
    const say = (log.fatal ?? log.error).bind(log);
    say(code, `cannot start: ${messageOf(error)}`);
    process.exitCode = 1;
    // What else the program has open must not keep alive a process that does nothing: its
    // supervisor should start it again.
    setTimeout(() => process.exit(), LINGER_MS).unref();
    return false;
  }
}
