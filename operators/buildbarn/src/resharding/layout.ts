/** Which shards there are, and how blobs are spread over them. */
export interface Layout {
  /** How many there are, drained ones included. */
  readonly shards: number;
  /** How much of the blobs each gets, by its number. Those that are not listed have 1. */
  readonly weights?: readonly number[];
  /** The numbers of those that no client asks, in ascending order. */
  readonly drained?: readonly number[];
  /** Whether each is a pair, of which both keep all. */
  readonly isMirrored?: boolean;
}

/** A layout without what goes without saying, so that equal ones are equal in all their fields. */
export function layout(own: Layout): Layout {
  const { shards, isMirrored = false } = own;
  const drained = [...new Set(own.drained ?? [])].filter((number) => number < shards).toSorted(ascending);
  const weights = own.weights?.slice(0, shards) ?? [];
  const meant = weights.findLastIndex((weight) => weight !== 1) + 1;
  return {
    shards,
    ...(meant > 0 && { weights: weights.slice(0, meant) }),
    ...(drained.length > 0 && { drained }),
    ...(isMirrored && { isMirrored }),
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

/**
 * A layout in a word: `3`; with weights `3w2.1`, without shard 1 `3d1`, in pairs `3m`; in this
 * order.
 */
export function layoutText(own: Layout): string {
  const { shards, weights, drained, isMirrored } = layout(own);
  return [
    shards,
    weights ? `w${weights.join(".")}` : "",
    drained ? `d${drained.join(".")}` : "",
    isMirrored ? "m" : "",
  ].join("");
}

const numbers = String.raw`\d{1,9}(?:\.\d{1,9})*`;
const pattern = new RegExp(`^([1-9]\\d{0,3})(?:w(${numbers}))?(?:d(${numbers}))?(m)?$`);

/** Reads what {@link layoutText} wrote; undefined if it did not. */
export function parseLayout(text: string): Layout | undefined {
  const found = pattern.exec(text);
  if (!found) return undefined;
  const [, shards, weights, drained, mirrored] = found;
  const list = (items: string) => items.split(".").map(Number);
  const parsed = layout({
    shards: Number(shards),
    ...(weights !== undefined && { weights: list(weights) }),
    ...(drained !== undefined && { drained: list(drained) }),
    isMirrored: mirrored !== undefined,
  });
  return layoutText(parsed) === text ? parsed : undefined;
}

/** Whether two layouts are the same. */
export function isSameLayout(a: Layout, b: Layout): boolean {
  return layoutText(a) === layoutText(b);
}

/** Whether every blob has its place on the same shard. If so, clients of both work side by side. */
export function isSamePlacement(a: Layout, b: Layout): boolean {
  const placement = (own: Layout) => layoutText({ ...own, isMirrored: false });
  return placement(a) === placement(b);
}

/**
 * Whether the only change is that shards are drained. If so, blobs of all others stay where they
 * are.
 */
export function isDrainOf(from: Layout, to: Layout): boolean {
  const { drained = [] } = to;
  const isMore = from.drained?.every((number) => drained.includes(number)) ?? true;
  return isMore && isSameLayout({ ...from, drained }, to);
}

/** Of a mirrored shard, which of the two; else the first. */
export const rings = ["a", "b"] as const;
/** One of the two copies of a mirrored shard. */
export type Ring = (typeof rings)[number];

/** A pod that keeps blobs. */
export interface ShardPod {
  readonly ring: Ring;
  readonly number: number;
}

/** The rings of a layout. */
export function ringsOf({ isMirrored }: Layout): readonly Ring[] {
  return isMirrored ? rings : ["a"];
}

/** The numbers of the shards that clients ask. */
export function askedShards({ shards, drained = [] }: Layout): readonly number[] {
  return Array.from({ length: shards }, (_, number) => number).filter((number) => !drained.includes(number));
}

/** The pods that clients ask. */
export function askedPods(own: Layout): readonly ShardPod[] {
  return ringsOf(own).flatMap((ring) => askedShards(own).map((number) => ({ ring, number })));
}
