import { type Random, uuid } from "@windlass/clock";

/**
 * Ids for the reconciles of one controller. Each is a UUID of which all but the end, a count, is
 * drawn once: to draw each one separately costs more than everything else that a new reconcile
 * needs.
 */
export function reconcileIds(random: Random): () => string {
  const drawn = uuid(random);
  const prefix = drawn.slice(0, drawn.lastIndexOf("-") + 1);
  let count = 0;
  return () => {
    count += 1;
    return prefix + count.toString(16).padStart(12, "0");
  };
}
