import { type Authority, createAuthority, inspect, loadAuthority } from "@windlass/certificates";
import { type Clock, type Duration, milliseconds } from "@windlass/clock";
import {
  clockSkewMs,
  neededOf,
  type Rotating,
  type RotationRules,
  type RotationStep,
  rotationStep,
  signerOf,
} from "../rotation.ts";

/** An authority as it is stored. Its key is gone once it signs no more. */
export interface StoredAuthority extends Rotating {
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly key?: string;
}

/**
 * The authorities that must be trusted, oldest first. They rotate as `rotation.ts` says.
 *
 * A pool has two such rings, and no certificate of one counts for the other:
 * - The client ring signs what clients and gateways show each other.
 * - The worker ring signs what gateways and workers show each other. A client that reaches a worker
 *   directly has nothing to show there.
 */
export type AuthorityRing = readonly StoredAuthority[];

/** How authorities rotate. */
export interface AuthorityRotation {
  /** How long an authority holds. @default "3650d" */
  readonly lifetime?: Duration;
  /** How long until the next one is added. @default "2900d" */
  readonly rotateEvery?: Duration;
  /**
   * How long an authority waits before it signs. Longer than any client keeps the bundle that it
   * was given, and than any worker runs: buildkitd reads its bundle once, when it starts.
   * @default "7d"
   */
  readonly settle?: Duration;
  /** The longest that a certificate may hold. @default "366d" */
  readonly longestCertificate?: Duration;
}

/** Decides what a ring needs: nothing, `addAuthority` or `neededAuthorities`. Pure. */
export function authorityStep(
  ring: AuthorityRing,
  now: number,
  rotation: AuthorityRotation = {},
): RotationStep {
  const rules = rulesOf(rotation);
  const step = rotationStep(ring, now, rules);
  const newest = ring.at(-1);
  if (step.do === "add" || !newest) return { do: "add" };
  // One that was taken over may hold for a shorter time than those that are made here.
  const lastCall = inspect(newest.certificate).notAfter - rules.settleMs - rules.longestSignedMs;
  if (now >= lastCall) return { do: "add" };
  const keyEnds = ring.flatMap(({ key }, index) =>
    key === undefined ? [] : [signsUntil(ring, index, rules)],
  );
  if (step.do === "drop" || keyEnds.some((end) => now >= end)) return { do: "drop" };
  return { do: "wait", until: Math.min(step.until, lastCall, ...keyEnds) };
}

/** The ring with a new authority, and without what nothing needs any more. */
export function addAuthority(
  ring: AuthorityRing,
  name: string,
  clock: Pick<Clock, "now">,
  rotation: AuthorityRotation = {},
): AuthorityRing {
  const { lifetime = "3650d" } = rotation;
  const now = clock.now();
  const { certificate, key } = createAuthority({
    commonName: name,
    validFor: milliseconds(lifetime, "authorities: lifetime"),
    clock,
  });
  return [...neededAuthorities(ring, now, rotation), { addedAt: now, certificate, key }];
}

/**
 * The ring without authorities whose certificates have all expired, and without the keys of those
 * that sign no more.
 */
export function neededAuthorities(
  ring: AuthorityRing,
  now: number,
  rotation: AuthorityRotation = {},
): AuthorityRing {
  const rules = rulesOf(rotation);
  const withoutKeys = ring.map((one, index): StoredAuthority => {
    const { key, ...rest } = one;
    return key === undefined || now < signsUntil(ring, index, rules) ? one : rest;
  });
  return neededOf(withoutKeys, now, rules);
}

/**
 * The authority that signs now; undefined if there is none that holds.
 *
 * @throws CertificateError when what is stored is not an authority with its key.
 */
export function signingAuthority(
  ring: AuthorityRing,
  clock: Pick<Clock, "now">,
  rotation: AuthorityRotation = {},
): Authority | undefined {
  const now = clock.now();
  const signer = signerOf(valid(ring, now), now, rulesOf(rotation));
  return signer?.key === undefined ? undefined : loadAuthority(signer.certificate, signer.key, { clock });
}

/** All certificates of a ring, for those who verify: a PEM bundle. */
export function trustBundle(ring: AuthorityRing): string {
  return ring
    .map(({ certificate }) => certificate.trimEnd())
    .join("\n")
    .concat("\n");
}

function valid(ring: AuthorityRing, now: number): AuthorityRing {
  return ring.filter(({ certificate }) => now < inspect(certificate).notAfter);
}

/** When it no longer signs, by any replica's clock. */
function signsUntil(ring: AuthorityRing, index: number, { settleMs }: RotationRules): number {
  const next = ring[index + 1];
  return next ? next.addedAt + settleMs + 2 * clockSkewMs : Number.POSITIVE_INFINITY;
}

function rulesOf(rotation: AuthorityRotation): RotationRules {
  const { lifetime = "3650d", rotateEvery = "2900d", settle = "7d", longestCertificate = "366d" } = rotation;
  const rules = {
    rotateEveryMs: milliseconds(rotateEvery, "authorities: rotateEvery"),
    settleMs: milliseconds(settle, "authorities: settle"),
    longestSignedMs: milliseconds(longestCertificate, "authorities: longestCertificate"),
  };
  const neededMs = rules.rotateEveryMs + rules.settleMs + rules.longestSignedMs;
  if (neededMs > milliseconds(lifetime, "authorities: lifetime"))
    throw new RangeError(
      `authorities: lifetime (${lifetime}) must be at least rotateEvery (${rotateEvery}), settle (${settle}) and longestCertificate (${longestCertificate}) together`,
    );
  return rules;
}
