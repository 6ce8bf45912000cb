/** Code points, as ranges that include both ends. */
export interface CharacterSet {
  /** Sorted, and apart from each other. */
  readonly ranges: readonly Range[];
}

type Range = readonly [low: number, high: number];

const last = 0x10_ff_ff;

/** The set of some ranges, in whatever order they are and however they overlap. */
export function setOf(ranges: readonly Range[]): CharacterSet {
  const merged: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1);
    if (previous !== undefined && low <= previous[1] + 1) previous[1] = Math.max(previous[1], high);
    else merged.push([low, high]);
  }
  return { ranges: merged };
}

/** Everything that is not in a set. */
export function complement({ ranges }: CharacterSet): CharacterSet {
  const rest: Range[] = [];
  let next = 0;
  for (const [low, high] of ranges) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= last) rest.push([next, last]);
  return { ranges: rest };
}

/** Whether a character is in both. */
export function overlap(a: CharacterSet, b: CharacterSet): boolean {
  for (let i = 0, j = 0; i < a.ranges.length && j < b.ranges.length; ) {
    const [lowA, highA] = a.ranges[i] as Range;
    const [lowB, highB] = b.ranges[j] as Range;
    if (lowA <= highB && lowB <= highA) return true;
    if (highA < highB) i++;
    else j++;
  }
  return false;
}

export const anything: CharacterSet = { ranges: [[0, last]] };

/** What `\d` and its like stand for in RE2, where they are ASCII only. */
export const perlClasses: ReadonlyMap<string, CharacterSet> = new Map(
  (
    [
      ["d", ["09"]],
      ["w", ["09", "AZ", "__", "az"]],
      ["s", ["\t\n", "\f\r", "  "]],
    ] as const
  ).flatMap(([name, ends]): [string, CharacterSet][] => {
    const set = setOf(ends.map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]));
    return [
      [name, set],
      [name.toUpperCase(), complement(set)],
    ];
  }),
);
