import { hash } from "node:crypto";

/**
 * How much a key prefers a candidate: of several, each key takes the one with the highest score
 * (rendezvous hashing). A candidate that comes or goes moves only the keys that prefer it.
 */
export function preference(key: string, candidate: string): number {
  return hash("sha256", JSON.stringify([key, candidate]), "buffer").readUIntBE(0, 6);
}

/** The candidate that a key prefers; undefined if there is none. */
export function preferred<T>(
  key: string,
  candidates: readonly T[],
  nameOf: (candidate: T) => string,
): T | undefined {
  let best: { readonly candidate: T; readonly score: number } | undefined;
  for (const candidate of candidates) {
    const score = preference(key, nameOf(candidate));
    if (!best || score > best.score) best = { candidate, score };
  }
  return best?.candidate;
}
