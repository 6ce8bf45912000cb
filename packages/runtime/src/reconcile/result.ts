import type { KubernetesObject } from "@windlass/client";
import { type Duration, milliseconds } from "@windlass/clock";
import type { StructuralSchema } from "../resource/structural.ts";
import { unknownFields } from "../resource/unknown-fields.ts";
import { ReconcileResultError } from "./errors.ts";
import { statusOf } from "./status.ts";

/** What a result of `reconcile` may have in it. */
export const reconcileResult = ["children", "status", "requeueAfter", "events"] as const;

/** What a result of `finalize` may have in it: while an object goes, nothing is applied for it. */
export const finalizeResult = ["status", "requeueAfter", "events"] as const;

/** The schema of a kind's status, if it is known. Asked for only where there is a status. */
export type StatusSchema = () => StructuralSchema | undefined;

/** What is known of the status of an object that was reconciled. */
export interface KnownStatus {
  readonly schema: StatusSchema | undefined;
  readonly object: KubernetesObject;
}

/**
 * Looks at what a reconciler returned before anything is done with it. A misspelt field would
 * otherwise be ignored, and one of the status be refused by the server after the children were
 * written.
 *
 * @throws ReconcileResultError naming the fault and what there is.
 */
export function checkResult(
  result: unknown,
  allowed: readonly string[],
  subject: string,
  known?: KnownStatus,
): void {
  if (result === undefined || result === null) return;
  const fault = faultIn(result, allowed);
  if (fault !== undefined)
    throw new ReconcileResultError(
      `${subject} returned ${fault}; a result may have ${allowed.join(", ")}, or be left out`,
    );
  const unknown = unknownInStatus(result, known);
  if (unknown.length > 0)
    throw new ReconcileResultError(`${subject} returned ${unknown.join(", ")}, which its kind does not have`);
}

/**
 * The fields of a status that its kind does not have. Those that the object has anyway were copied
 * from it: it is of a newer version of the definition than this program's.
 */
function unknownInStatus(result: object, known: KnownStatus | undefined): readonly string[] {
  const { status } = result as { readonly status?: unknown };
  const schema = status === undefined ? undefined : known?.schema?.();
  if (known === undefined || schema === undefined) return [];
  const unknown = unknownFields(status, schema, "status");
  if (unknown.length === 0) return [];
  const newer = unknownFields(statusOf(known.object), schema, "status");
  return unknown.filter((path) => !newer.includes(path));
}

function faultIn(result: NonNullable<unknown>, allowed: readonly string[]): string | undefined {
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
