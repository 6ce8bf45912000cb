/** What rotation needs to know of a certificate authority. Times are epoch milliseconds. */
export interface Dated {
  /** Tells authorities apart. */
  readonly id: string;
  readonly notAfter: number;
}

/**
 * The authorities that all replicas share.
 *
 * ```
 * none ──found──▶ steady ──announce──▶ announcing ──promote──▶ steady (the old one retired) ──retire──▶ steady
 * ```
 *
 * An authority is trusted before it signs, and for as long as anything that it may have signed is
 * valid. So it does not matter when a replica learns of a step: what it serves is trusted before,
 * during and after.
 */
export type Authorities<A extends Dated> =
  | { readonly at: "none" }
  /**
   * `signer` signs. `retired` have signed: their keys were discarded, and they are trusted until
   * they expire.
   */
  | { readonly at: "steady"; readonly signer: A; readonly retired: readonly A[] }
  /** `next` is on its way to everyone who must trust it. It does not sign yet. */
  | { readonly at: "announcing"; readonly signer: A; readonly next: A; readonly retired: readonly A[] };

/** The leaf that one replica serves. */
export type Leaf =
  | { readonly at: "none" }
  | { readonly at: "serving"; readonly issuer: string; readonly notAfter: number };

/** What one replica sees at one moment. */
export interface Observation {
  /** By the replica's own wall clock. */
  readonly now: number;
  /**
   * How long everyone who calls has trusted an authority without a break, by a clock that only runs
   * forward; undefined if not all of them do.
   */
  readonly trustedForMs: (id: string) => number | undefined;
}

/** How long things last. */
export interface RotationRules {
  readonly authorityLifetimeMs: number;
  readonly leafLifetimeMs: number;
  /**
   * How long an authority must have been trusted before it signs: longer than any API server takes
   * to read it.
   */
  readonly settleMs: number;
  /** How far clocks may be apart. */
  readonly skewMs: number;
}

/** What to do about the shared authorities. */
export type SharedStep =
  /** Nothing, until `lookAt` or until something is seen to change. */
  | { readonly do: "wait"; readonly lookAt: number }
  /** Make an authority that signs at once: there is none, or none that is still valid. */
  | { readonly do: "found" }
  /** Make the next authority. */
  | { readonly do: "announce" }
  /** Let the next one sign. */
  | { readonly do: "promote" }
  /** Forget those that have expired. */
  | { readonly do: "retire" };

/**
 * Decides what the authorities need. Pure. Every replica asks; the first to write wins, and the
 * others see its result.
 */
export function sharedStep<A extends Dated>(
  shared: Authorities<A>,
  look: Observation,
  rules: RotationRules,
): SharedStep {
  if (shared.at === "none") return { do: "found" };
  const { signer, retired } = shared;
  const { now } = look;
  const { skewMs } = rules;
  if (shared.at === "announcing") {
    const { next } = shared;
    if (now >= next.notAfter) return { do: "found" };
    const trusted = look.trustedForMs(next.id);
    const isSettled = trusted !== undefined && trusted >= rules.settleMs;
    // An authority that not everyone trusts yet is still better than one that no caller trusts any
    // more.
    if (isSettled || now >= signer.notAfter - skewMs) return { do: "promote" };
    const settledAt = trusted === undefined ? Number.POSITIVE_INFINITY : now + rules.settleMs - trusted;
    return { do: "wait", lookAt: Math.min(settledAt, signer.notAfter - skewMs) };
  }
  if (now >= signer.notAfter) return { do: "found" };
  if (now >= renewalOf(signer, rules.authorityLifetimeMs)) return { do: "announce" };
  if (retired.some(({ notAfter }) => now > notAfter + skewMs)) return { do: "retire" };
  const ends = retired.map(({ notAfter }) => notAfter + skewMs + 1);
  return { do: "wait", lookAt: Math.min(renewalOf(signer, rules.authorityLifetimeMs), ...ends) };
}

/** The authorities after a step. `made` is the new one of the steps that make one. */
export function stepped<A extends Dated>(
  shared: Authorities<A>,
  step: Exclude<SharedStep, { readonly do: "wait" }>,
  look: Pick<Observation, "now">,
  rules: Pick<RotationRules, "skewMs">,
  made: () => A,
): Authorities<A> {
  const isNeeded = ({ notAfter }: A) => look.now <= notAfter + rules.skewMs;
  const before = trustedOf(shared).filter(isNeeded);
  switch (step.do) {
    case "found":
      return { at: "steady", signer: made(), retired: before };
    case "announce":
      return shared.at === "steady" ? { ...shared, at: "announcing", next: made() } : shared;
    case "promote":
      if (shared.at !== "announcing") return shared;
      return { at: "steady", signer: shared.next, retired: before.filter(({ id }) => id !== shared.next.id) };
    case "retire":
      return shared.at === "none" ? shared : { ...shared, retired: shared.retired.filter(isNeeded) };
  }
}

/** All authorities that must be trusted. */
export function trustedOf<A extends Dated>(shared: Authorities<A>): readonly A[] {
  if (shared.at === "none") return [];
  const { signer, retired } = shared;
  return shared.at === "announcing" ? [signer, shared.next, ...retired] : [signer, ...retired];
}

/** What a replica does about its leaf: goes on with it, or has the signer sign a new one. */
export type LeafStep = { readonly do: "keep"; readonly lookAt: number } | { readonly do: "mint" };

/** Decides what a replica serves. Pure. */
export function leafStep<A extends Dated>(
  leaf: Leaf,
  shared: Authorities<A>,
  look: Observation,
  rules: RotationRules,
): LeafStep {
  const { now } = look;
  if (shared.at === "none") return { do: "keep", lookAt: Number.POSITIVE_INFINITY };
  const { signer } = shared;
  // A signer that has expired by this clock signs nothing: it is about to be replaced.
  if (now >= signer.notAfter) return { do: "keep", lookAt: Number.POSITIVE_INFINITY };
  if (leaf.at === "none") return { do: "mint" };
  if (leaf.issuer !== signer.id) {
    const trusted = look.trustedForMs(signer.id);
    const isSettled = trusted !== undefined && trusted >= rules.settleMs;
    const lastMoment = leaf.notAfter - rules.skewMs;
    if (isSettled || now >= lastMoment) return { do: "mint" };
    const settledAt = trusted === undefined ? Number.POSITIVE_INFINITY : now + rules.settleMs - trusted;
    return { do: "keep", lookAt: Math.min(settledAt, lastMoment) };
  }
  const renewal = renewalOf(leaf, rules.leafLifetimeMs);
  if (now < renewal) return { do: "keep", lookAt: renewal };
  // Near the signer's end a new leaf would end with it, just as this one does.
  const gain = Math.min(now + rules.leafLifetimeMs, signer.notAfter) - leaf.notAfter;
  if (gain >= rules.leafLifetimeMs / 10) return { do: "mint" };
  return { do: "keep", lookAt: Math.max(now + rules.skewMs, leaf.notAfter) };
}

/** When the last third of a life begins. */
function renewalOf({ notAfter }: { readonly notAfter: number }, lifetimeMs: number): number {
  return notAfter - lifetimeMs / 3;
}

/**
 * What a caller should trust, given what it trusts now; the same list if that will do. What must be
 * trusted is added, what has expired is dropped, and nothing else is taken away: a replica that is
 * behind does no harm.
 */
export function trustFor<A extends Dated>(
  present: readonly A[],
  needed: readonly A[],
  now: number,
  { skewMs }: Pick<RotationRules, "skewMs">,
): readonly A[] {
  const kept = present.filter(({ notAfter }) => now <= notAfter + skewMs);
  const missing = needed.filter(({ id }) => !kept.some((one) => one.id === id));
  return kept.length === present.length && missing.length === 0 ? present : [...kept, ...missing];
}
