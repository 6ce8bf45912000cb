import { clone, type JsonObject } from "../json.ts";

/**
 * A status's conditions with one of them set, as most of the real controllers do it: one with the
 * same status and reason is kept with its message; a changed one moves to the end, and keeps its
 * transition time unless its status changed.
 */
export function withCondition(conditions: readonly JsonObject[], next: JsonObject): JsonObject[] {
  const known = conditions.find(({ type }) => type === next.type);
  if (known && known.status === next.status && known.reason === next.reason) return [...conditions];
  const others = conditions.filter(({ type }) => type !== next.type);
  const kept =
    known && known.status === next.status && known.lastTransitionTime !== undefined
      ? { lastTransitionTime: known.lastTransitionTime }
      : {};
  return [...others, { ...clone(next), ...kept }];
}

export function withoutCondition(conditions: readonly JsonObject[], type: string): JsonObject[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * A status's conditions with one of them replaced where it stands, its transition time kept unless
 * its status changed.
 */
export function replaceCondition(conditions: readonly JsonObject[], next: JsonObject): JsonObject[] {
  const at = conditions.findIndex(({ type }) => type === next.type);
  if (at < 0) return [...conditions, next];
  const known = conditions[at] as JsonObject;
  const replaced =
    known.status === next.status && known.lastTransitionTime !== undefined
      ? { ...next, lastTransitionTime: known.lastTransitionTime }
      : next;
  return conditions.map((condition, index) => (index === at ? replaced : condition));
}
