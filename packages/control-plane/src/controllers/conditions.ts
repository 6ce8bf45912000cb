import type { PodCondition } from "@windlass/kinds/builtin";
import { clone } from "../json.ts";

/** What a condition of any kind has, typed or not. */
interface ConditionLike {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly lastTransitionTime?: unknown;
}

/** A condition of a built-in kind as a controller writes it. */
export interface NewCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string;
}

/** A condition of a pod as Go's programs write it: with a null where a time was never set. */
export interface WrittenPodCondition extends Omit<PodCondition, "lastProbeTime"> {
  readonly lastProbeTime?: string | null;
}

/**
 * A status's conditions with one of them set, as most of the real controllers do it: one with the
 * same status and reason is kept with its message; a changed one moves to the end, and keeps its
 * transition time unless its status changed.
 */
export function withCondition<C extends ConditionLike>(conditions: readonly C[], next: C): C[] {
  const known = conditions.find(({ type }) => type === next.type);
  if (known && known.status === next.status && known.reason === next.reason) return [...conditions];
  const others = conditions.filter(({ type }) => type !== next.type);
  const kept =
    known && known.status === next.status && known.lastTransitionTime !== undefined
      ? { lastTransitionTime: known.lastTransitionTime }
      : {};
  return [...others, { ...clone(next), ...kept }];
}

export function withoutCondition<C extends ConditionLike>(conditions: readonly C[], type: string): C[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * A status's conditions with one of them replaced where it stands, its transition time kept unless
 * its status changed.
 */
export function replaceCondition<C extends ConditionLike>(conditions: readonly C[], next: C): C[] {
  const at = conditions.findIndex(({ type }) => type === next.type);
  const known = conditions[at];
  if (!known) return [...conditions, next];
  const replaced =
    known.status === next.status && known.lastTransitionTime !== undefined
      ? { ...next, lastTransitionTime: known.lastTransitionTime }
      : next;
  return conditions.map((condition, index) => (index === at ? replaced : condition));
}
