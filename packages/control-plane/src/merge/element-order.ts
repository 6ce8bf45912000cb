import { identityText, isObject, type Json } from "../json.ts";
import { get } from "./plain.ts";

/**
 * Puts a merged list in order: items that the patch names follow the patch's order, the others keep
 * the order they had, and the two are interleaved by where they stood before. Where the orders
 * disagree, the patch's wins.
 */
export function arrange(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  liveOrder: readonly Json[],
  mergeKey: string | undefined,
): Json[] {
  const inPatch = placesIn(patchOrder, mergeKey);
  const inLive = placesIn(liveOrder, mergeKey);
  const placed = merged.map((item) => ({ item, at: inPatch(item) }));
  const named = byPlace(placed.filter(({ at }) => at >= 0));
  const right = named.map(({ item }) => ({ item, at: inLive(item) }));
  const others = placed.filter(({ at }) => at < 0);
  const left = byPlace(others.map(({ item }) => ({ item, at: inLive(item) })));
  const result: Json[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const [before, after] = [left[i], right[j]];
    if (before === undefined || after === undefined) break;
    const isFirst = before.at >= 0 && after.at >= 0 && before.at < after.at;
    result.push(isFirst ? before.item : after.item);
    if (isFirst) i++;
    else j++;
  }
  return [...result, ...[...left.slice(i), ...right.slice(j)].map(({ item }) => item)];
}

interface Placed {
  readonly item: Json;
  readonly at: number;
}

function byPlace(items: readonly Placed[]): Placed[] {
  return items.toSorted((a, b) => a.at - b.at);
}

/** Where an item, or one with the same merge key, first stands in an order; -1 if it does not. */
function placesIn(order: readonly Json[], mergeKey: string | undefined): (item: Json) => number {
  const identity = (item: Json) => {
    if (mergeKey === undefined) return identityText(item);
    return isObject(item) ? identityText(get(item, mergeKey)) : undefined;
  };
  const places = new Map<string | undefined, number>();
  for (const [at, item] of order.entries()) {
    const key = identity(item);
    if (key !== undefined && !places.has(key)) places.set(key, at);
  }
  return (item) => places.get(identity(item)) ?? -1;
}
