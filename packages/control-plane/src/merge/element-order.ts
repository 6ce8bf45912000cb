import { equal, isObject, type Json } from "../json.ts";
import { get } from "./plain.ts";

/**
 * Puts a merged list in order: items that the patch names follow the patch's order, the others keep the order they had,
 * and the two are interleaved by where they stood before. Where the orders disagree, the patch's wins.
 */
export function arrange(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  liveOrder: readonly Json[],
  mergeKey: string | undefined,
): Json[] {
  const place = (order: readonly Json[], item: Json) =>
    order.findIndex((other) => same(other, item, mergeKey));
  const named = merged.filter((item) => place(patchOrder, item) >= 0);
  const others = merged.filter((item) => place(patchOrder, item) < 0);
  const left = byPlace(others, liveOrder, place);
  const right = byPlace(named, patchOrder, place);
  const result: Json[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const before = place(liveOrder, left[i] as Json);
    const after = place(liveOrder, right[j] as Json);
    if (before >= 0 && after >= 0 && before < after) result.push(left[i++] as Json);
    else result.push(right[j++] as Json);
  }
  return [...result, ...left.slice(i), ...right.slice(j)];
}

function byPlace(
  items: readonly Json[],
  order: readonly Json[],
  place: (order: readonly Json[], item: Json) => number,
): Json[] {
  return items
    .map((item) => ({ item, at: place(order, item) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function same(a: Json, b: Json, mergeKey: string | undefined): boolean {
  if (mergeKey === undefined) return equal(a, b);
  return isObject(a) && isObject(b) && equal(get(a, mergeKey), get(b, mergeKey));
}
