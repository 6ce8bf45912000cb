import type { Clock } from "@windlass/clock";
import { clone, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { timestamp } from "./metadata.ts";
import type { Resource } from "./resource.ts";

export interface DeleteOptions {
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number | bigint;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** One of a whole collection: admission is not told the name. */
  readonly collection?: boolean;
  /** Admission has seen what leads to this deletion, and does not see the deletion itself. */
  readonly admitted?: boolean;
  /** The options as they came, for admission. */
  readonly raw?: JsonObject;
}

/** The finalizers that request foreground deletion or orphaning from the garbage collector. */
export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/**
 * The object after a delete request that finalizers or a grace period delay.
 *
 * @returns undefined if nothing does, and it may go at once
 */
export function markForDeletion(
  resource: Resource,
  object: JsonObject,
  options: DeleteOptions,
  clock: Clock,
): { object: JsonObject } | undefined {
  const metadata = clone(metadataOf(object));
  const present = (metadata.finalizers as string[] | undefined) ?? [];
  const own = resource.strategy.deletionFinalizers?.(object) ?? [];
  const finalizers = [
    ...withDependents(resource, present, options),
    ...own.filter((name) => !present.includes(name)),
  ];
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;

  const grace = graceOf(resource, object, options);
  const deletingAlready = metadata.deletionTimestamp !== undefined;
  if (grace === 0 && finalizers.length === 0 && !resource.strategy.heldBack?.(object)) return undefined;
  if (deletingAlready) {
    // A second delete may shorten the wait, never lengthen it.
    const before = (metadata.deletionGracePeriodSeconds ?? 0) as number | bigint;
    if (options.gracePeriodSeconds !== undefined && grace < before) {
      const began = Date.parse(textOf(metadata.deletionTimestamp)) - goDurationMs(before);
      metadata.deletionTimestamp = timeText(began + goDurationMs(grace));
      metadata.deletionGracePeriodSeconds = grace;
    }
    return { object: { ...object, metadata } };
  }
  metadata.deletionTimestamp = timeText(clock.now() + goDurationMs(grace));
  // A namespace goes when it is empty, whatever the grace period.
  if (!resource.strategy.heldBack) metadata.deletionGracePeriodSeconds = grace;
  if (resource.strategy.generation) metadata.generation = Number(metadata.generation ?? 0) + 1;
  const marked: JsonObject = { ...object, metadata };
  resource.strategy.onDeletion?.(marked, { clock });
  return { object: marked };
}

/**
 * The last state of what goes at once. Of kinds that may linger it has the time, and that it had no
 * time left.
 */
export function dying(resource: Resource, object: JsonObject, clock: Clock): JsonObject {
  const metadata = metadataOf(object);
  if (!resource.strategy.gracePeriod || metadata.deletionTimestamp !== undefined) return object;
  return {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(clock),
      deletionGracePeriodSeconds: 0,
      ...(resource.strategy.generation ? { generation: Number(metadata.generation ?? 0) + 1 } : {}),
    },
  };
}

/**
 * Seconds as Go's duration has them, in milliseconds: more nanoseconds than 64 bits hold start
 * again from below.
 */
function goDurationMs(seconds: number | bigint): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function graceOf(resource: Resource, object: JsonObject, options: DeleteOptions): number | bigint {
  const natural = resource.strategy.gracePeriod?.(object);
  if (natural === undefined) return 0;
  if (natural === 0) return 0;
  if (options.gracePeriodSeconds === undefined) return natural;
  return options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
}

function withDependents(resource: Resource, finalizers: readonly string[], options: DeleteOptions): string[] {
  const others = finalizers.filter((name) => name !== foregroundFinalizer && name !== orphanFinalizer);
  const policy = options.propagationPolicy;
  if (policy === undefined) {
    // Existing finalizers decide; without them the kind's default does.
    if (others.length < finalizers.length) return [...finalizers];
    return resource.strategy.dependents === "Orphan" ? [...others, orphanFinalizer] : others;
  }
  if (policy === "Orphan") return [...others, orphanFinalizer];
  if (policy === "Foreground") return [...others, foregroundFinalizer];
  return others;
}
