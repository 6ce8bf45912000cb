/** Something that signs, and is replaced by a newer one in time. */
export interface Rotating {
  /** Epoch milliseconds. */
  readonly addedAt: number;
}

/** How signers follow one another. */
export interface RotationRules {
  /** How long after one signer the next is added. */
  readonly rotateEveryMs: number;
  /**
   * How long a signer waits before it signs: longer than any verifier takes to learn of it.
   */
  readonly settleMs: number;
  /** The longest that anything signed holds. */
  readonly longestSignedMs: number;
}

/** How far the clocks of those who sign and those who verify may be apart. */
export const clockSkewMs = 5 * 60_000;

/** What a list of signers, oldest first, needs now. */
export type RotationStep =
  /** Nothing until then. */
  | { readonly do: "wait"; readonly until: number }
  /** A new signer. */
  | { readonly do: "add" }
  /** To lose signers that nothing needs any more: `neededOf`. */
  | { readonly do: "drop" };

/*
 * What each signer is for follows from when it was added, so that everyone who has the list and the
 * time agrees on it:
 *
 *   added ──settle──▶ signs ──until the next one signs──▶ verifies ──longest signed──▶ dropped
 *
 * A signer signs only after it has had time to reach all who verify, and is dropped only after the
 * last thing that it signed has expired. So no process has to restart, or to learn of a change at
 * any particular moment.
 */

/** Decides what the signers need. Pure: every replica may ask, and the first to write wins. */
export function rotationStep(signers: readonly Rotating[], now: number, rules: RotationRules): RotationStep {
  const newest = signers.at(-1);
  if (!newest) return { do: "add" };
  const rotateAt = newest.addedAt + rules.rotateEveryMs;
  if (now >= rotateAt) return { do: "add" };
  const ends = signers.map((_, index) => neededUntil(signers, index, rules));
  if (ends.some((end) => now >= end)) return { do: "drop" };
  return { do: "wait", until: Math.min(rotateAt, ...ends) };
}

/** The signers without those whose last signature has expired. */
export function neededOf<S extends Rotating>(
  signers: readonly S[],
  now: number,
  rules: RotationRules,
): readonly S[] {
  return signers.filter((_, index) => now < neededUntil(signers, index, rules));
}

/** The one that signs: the newest that has settled, else the oldest. Undefined if there is none. */
export function signerOf<S extends Rotating>(
  signers: readonly S[],
  now: number,
  { settleMs }: Pick<RotationRules, "settleMs">,
): S | undefined {
  return signers.findLast(({ addedAt }) => now >= addedAt + settleMs) ?? signers[0];
}

/** When the last thing that a signer may have signed has expired, by anyone's clock. */
function neededUntil(signers: readonly Rotating[], index: number, rules: RotationRules): number {
  const next = signers[index + 1];
  if (!next) return Number.POSITIVE_INFINITY;
  return next.addedAt + rules.settleMs + rules.longestSignedMs + 2 * clockSkewMs;
}
