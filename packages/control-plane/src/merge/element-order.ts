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
  const named = merged.filter((item) => inPatch(item) >= 0);
  const others = merged.filter((item) => inPatch(item) < 0);
  const left = byPlace(others, inLive);
  const right = byPlace(named, inPatch);
  const result: Json[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const before = inLive(left[i] as Json);
    const after = inLive(right[j] as Json);
    if (before >= 0 && after >= 0 && before < after) result.push(left[i++] as Json);
    else result.push(right[j++] as Json);
  }
  return [...result, ...left.slice(i), ...right.slice(j)];
}

type Place = (item: Json) => number;

function byPlace(items: readonly Json[], place: Place): Json[] {
  return items
    .map((item) => ({ item, at: place(item) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Where an item, or one with the same merge key, first stands in an order; -1 if it does not. */
function placesIn(order: readonly Json[], mergeKey: string | undefined): Place {
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
