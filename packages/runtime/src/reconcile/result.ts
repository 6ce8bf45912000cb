import { type Duration, milliseconds } from "@windlass/clock";
import { ReconcileResultError } from "./errors.ts";

/** What a result of `reconcile` may have in it. */
export const reconcileResult = ["children", "status", "requeueAfter", "events"] as const;

/** What a result of `finalize` may have in it: while an object goes, nothing is applied for it. */
export const finalizeResult = ["status", "requeueAfter", "events"] as const;

/**
 * Looks at what a reconciler returned before anything is done with it. A misspelt field would
 * otherwise be ignored.
 *
 * @throws ReconcileResultError naming the fault and what there is.
 */
export function checkResult(result: unknown, allowed: readonly string[], subject: string): void {
  const fault = result === undefined || result === null ? undefined : faultIn(result, allowed);
  if (fault === undefined) return;
  throw new ReconcileResultError(
    `${subject} returned ${fault}; a result may have ${allowed.join(", ")}, or be left out`,
  );
}

function faultIn(result: unknown, allowed: readonly string[]): string | undefined {
  if (Array.isArray(result)) return "a list where a result belongs";
  if (typeof result !== "object") return `a ${typeof result} where a result belongs`;
  const unknown = Object.keys(result ?? {}).filter((key) => !allowed.includes(key));
  if (unknown.length > 0)
    return `${unknown.map((key) => JSON.stringify(key)).join(", ")}, which nothing looks at`;
  const { children, events, requeueAfter } = result as Record<string, unknown>;
  for (const [name, value] of Object.entries({ children, events }))
    if (value !== undefined && !Array.isArray(value)) return `${name} that are no list`;
  return requeueAfter === undefined ? undefined : faultInDuration(requeueAfter);
}

/**
 * A negative time is one that has passed by now: a clock may be late by less than a millisecond.
 */
function faultInDuration(value: unknown): string | undefined {
  if (typeof value === "number" && value < 0) return undefined;
  try {
    milliseconds(value as Duration, "requeueAfter");
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return `a result whose ${error.message}`;
    throw error;
  }
}
