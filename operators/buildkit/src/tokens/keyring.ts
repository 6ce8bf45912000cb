import { hkdfSync } from "node:crypto";
import { type Duration, milliseconds, type Random } from "@windlass/clock";
import { type PoolName, poolText } from "../pool-name.ts";
import { longestTtlMs } from "./lifetime.ts";

/** A key that signs tokens. */
export interface TokenKey {
  /** From 1 to 65,535, and unlike all others of its ring. */
  readonly id: number;
  /** Epoch milliseconds. */
  readonly addedAt: number;
  /** 32 bytes. */
  readonly secret: Uint8Array;
}

/**
 * The keys of which any may have signed a token that still holds, oldest first. What each is for follows from when it was
 * added, so that everyone who has the ring and the time agrees on it:
 *
 * ```
 * added ──settle──▶ signs ──until the next one signs──▶ verifies ──longest lifetime of a token──▶ dropped
 * ```
 *
 * A key signs only after it has had time to reach every gateway, and is dropped only after the last token that it signed has
 * expired. So nobody has to restart, or to hear of a change at any particular moment.
 */
export type Keyring = readonly TokenKey[];

/** How keys rotate. */
export interface KeyRotation {
  /** How long until the next key is added. @default "30d" */
  readonly rotateEvery?: Duration;
  /** How long a key waits before it signs: longer than any gateway takes to receive it. @default "10m" */
  readonly settle?: Duration;
}

/** What a ring needs now. */
export type KeyringStep =
  /** Nothing until then. */
  | { readonly do: "wait"; readonly until: number }
  /** A new key: `addKey`. */
  | { readonly do: "add" }
  /** To lose keys that nothing needs any more: `neededKeys`. */
  | { readonly do: "drop" };

/** The largest key id that a token has room for. */
export const LARGEST_KEY_ID = 0xffff;

/** How far the clocks of those who sign and those who verify may be apart. */
const SKEW_MS = 5 * 60_000;
const SECRET_BYTES = 32;

/** Decides what a ring needs. Pure: every replica may ask, and the first to write wins. */
export function keyringStep(ring: Keyring, now: number, rotation: KeyRotation = {}): KeyringStep {
  const newest = ring.at(-1);
  if (!newest) return { do: "add" };
  const rotateAt = newest.addedAt + milliseconds(rotation.rotateEvery ?? "30d", "token keys: rotateEvery");
  if (now >= rotateAt) return { do: "add" };
  const ends = ring.map((_, index) => neededUntil(ring, index, rotation));
  if (ends.some((end) => now >= end)) return { do: "drop" };
  return { do: "wait", until: Math.min(rotateAt, ...ends) };
}

/** The ring with a new key, and without those that nothing needs any more. */
export function addKey(
  ring: Keyring,
  now: number,
  random: Pick<Random, "bytes">,
  rotation: KeyRotation = {},
): Keyring {
  const key: TokenKey = { id: freeId(ring), addedAt: now, secret: random.bytes(SECRET_BYTES) };
  return [...neededKeys(ring, now, rotation), key];
}

/** The ring without the keys whose tokens have all expired. */
export function neededKeys(ring: Keyring, now: number, rotation: KeyRotation = {}): Keyring {
  return ring.filter((_, index) => now < neededUntil(ring, index, rotation));
}

/** The key to sign with: the newest that has settled, else the oldest. Undefined for an empty ring. */
export function signingKey(ring: Keyring, now: number, rotation: KeyRotation = {}): TokenKey | undefined {
  return ring.findLast(({ addedAt }) => now >= addedAt + settleMs(rotation)) ?? ring[0];
}

/**
 * The ring of one pool. Its keys are derived from the cluster's, so a gateway that is broken into can make tokens for its own
 * pool alone, and takes those of no other.
 */
export function poolKeyring(ring: Keyring, pool: PoolName): Keyring {
  const purpose = Buffer.from(`windlass buildkit allocation tokens of ${poolText(pool)}`);
  return ring.map((key) => ({
    ...key,
    secret: new Uint8Array(hkdfSync("sha256", key.secret, new Uint8Array(), purpose, SECRET_BYTES)),
  }));
}

/** When the last token that a key may have signed has expired, by anyone's clock. */
function neededUntil(ring: Keyring, index: number, rotation: KeyRotation): number {
  const next = ring[index + 1];
  if (!next) return Number.POSITIVE_INFINITY;
  return next.addedAt + settleMs(rotation) + longestTtlMs + 2 * SKEW_MS;
}

function settleMs({ settle = "10m" }: KeyRotation): number {
  return milliseconds(settle, "token keys: settle");
}

function freeId(ring: Keyring): number {
  const taken = new Set(ring.map(({ id }) => id));
  let id = ring.at(-1)?.id ?? 0;
  do id = (id % LARGEST_KEY_ID) + 1;
  while (taken.has(id));
  return id;
}
