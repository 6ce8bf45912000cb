import { countOf, type LogDecision } from "../logging/log-throttle.ts";
import type { Logger } from "../logging/logger.ts";
import { ChildError, explain, ReconcileResultError, ReconcileTimeoutError, reasonOf } from "./errors.ts";

/** A failed reconcile, as its line in the log needs it. */
export interface FailureReport {
  /** The log of the reconcile. */
  readonly log: Logger;
  readonly attempt: number;
  readonly error: unknown;
  readonly decision: LogDecision;
  /** No server answers, which is logged once for all reconciles. */
  readonly isOutage: boolean;
}

/** Logs a failed reconcile. @param retryInMs undefined if it is not retried */
export function logFailure(
  { log, attempt, error, decision, isOutage }: FailureReport,
  retryInMs: number | undefined,
): void {
  const fields = {
    reason: reasonOf(error),
    terminal: retryInMs === undefined,
    attempt,
    ...(retryInMs === undefined ? {} : { retryInMs: Math.round(retryInMs) }),
    ...countOf(decision),
    error: explain(error),
    ...(decision.as === "first" && error instanceof Error ? { stack: stackOf(error) } : {}),
  };
  const message =
    retryInMs === undefined
      ? "reconcile failed for good: it is tried again when the object changes"
      : `reconcile failed (attempt ${attempt}), trying again in ${inWords(retryInMs)}`;
  log[decision.as === "suppressed" || isOutage ? "debug" : "error"](fields, message);
}

/** Where it was thrown, if that was in the program; the message is logged apart. */
function stackOf(error: Error): string | undefined {
  const isOurs =
    error instanceof ReconcileTimeoutError ||
    error instanceof ReconcileResultError ||
    error instanceof ChildError;
  if (isOurs) return undefined;
  const { stack = "" } = error;
  return stack.slice(Math.max(0, stack.search(/^ {4}at /m))).trimStart();
}

function inWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
