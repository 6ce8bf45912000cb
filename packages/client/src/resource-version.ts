/**
 * Which of two resource versions is newer: negative if `a` is older, 0 if they are the same,
 * positive if `a` is newer. Undefined if either is not a decimal number without leading zeros, as
 * with some aggregated API servers: then only equality means anything.
 *
 * Compares as text (by length, then by digits): versions may exceed what a number can hold.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!isComparable(a) || !isComparable(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isComparable(version: string): boolean {
  return /^[1-9][0-9]*$/.test(version);
}
