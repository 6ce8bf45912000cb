import { hkdfSync } from "node:crypto";
import { type Duration, milliseconds, type Random } from "@windlass/clock";
import { type PoolName, poolText } from "../pool-name.ts";
import {
  neededOf,
  type Rotating,
  type RotationRules,
  type RotationStep,
  rotationStep,
  signerOf,
} from "../rotation.ts";
import { longestTtlMs } from "./lifetime.ts";

/** A key that signs tokens. */
export interface TokenKey extends Rotating {
  /** From 1 to 65,535, and unlike all others of its ring. */
  readonly id: number;
  /** 32 bytes. */
  readonly secret: Uint8Array;
}

/**
 * The keys of which any may have signed a token that still holds, oldest first. They rotate as
 * `rotation.ts` says.
 */
export type Keyring = readonly TokenKey[];

/** How keys rotate. */
export interface KeyRotation {
  /** How long until the next key is added. @default "30d" */
  readonly rotateEvery?: Duration;
  /**
   * How long a key waits before it signs: longer than any gateway takes to receive it.
   *
   * @default "10m"
   */
  readonly settle?: Duration;
  /**
   * How long after it was added a key may still come to a pool's gateways, because its controller
   * was away: till then, and while it settles there, the key before signs for the pool.
   *
   * @default "7d"
   */
  readonly late?: Duration;
}

/** The largest key id that a token has room for. */
export const LARGEST_KEY_ID = 0xffff;

const SECRET_BYTES = 32;

/** Decides what a ring needs: nothing, `addKey` or `neededKeys`. */
export function keyringStep(ring: Keyring, now: number, rotation: KeyRotation = {}): RotationStep {
  return rotationStep(ring, now, rulesOf(rotation));
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
  return neededOf(ring, now, rulesOf(rotation));
}

/** The key to sign with; undefined for an empty ring. */
export function signingKey(ring: Keyring, now: number, rotation: KeyRotation = {}): TokenKey | undefined {
  return signerOf(ring, now, rulesOf(rotation));
}

/**
 * The ring of one pool. Its keys are derived from the cluster's, so a gateway that is broken into
 * can make tokens for its own pool alone, and takes those of no other.
 */
export function poolKeyring(ring: Keyring, pool: PoolName): Keyring {
  const purpose = Buffer.from(`windlass buildkit allocation tokens of ${poolText(pool)}`);
  return ring.map((key) => ({
    ...key,
    secret: new Uint8Array(hkdfSync("sha256", key.secret, new Uint8Array(), purpose, SECRET_BYTES)),
  }));
}

/**
 * What the Secret of a pool holds now: the pool's own ring, in which a key that the pool's gateways
 * do not have yet counts from now on. However late the controller brings it, it settles first. No
 * key comes after one that the cluster added later, so none signs again that was replaced.
 *
 * @param present What the Secret held until now; empty if there was none.
 */
export function arrivingKeyring(ring: Keyring, pool: PoolName, present: Keyring, now: number): Keyring {
  const keys = poolKeyring(ring, pool).map((key) => ({ key, before: sameKey(present, key) }));
  const isFirst = keys.every(({ before }) => before === undefined);
  let next = Number.POSITIVE_INFINITY;
  return keys
    .toReversed()
    .map(({ key, before }) => {
      const arrivedAt = before?.addedAt ?? (isFirst ? key.addedAt : now);
      next = Math.min(next, Math.max(key.addedAt, Math.min(arrivedAt, now)));
      return { ...key, addedAt: next };
    })
    .toReversed();
}

function sameKey(ring: Keyring, { id, secret }: TokenKey): TokenKey | undefined {
  return ring.find((one) => one.id === id && Buffer.from(one.secret).equals(secret));
}

function rulesOf({ rotateEvery = "30d", settle = "10m", late = "7d" }: KeyRotation): RotationRules {
  return {
    rotateEveryMs: milliseconds(rotateEvery, "token keys: rotateEvery"),
    settleMs: milliseconds(settle, "token keys: settle"),
    longestSignedMs: longestTtlMs + milliseconds(late, "token keys: late"),
  };
}

function freeId(ring: Keyring): number {
  const taken = new Set(ring.map(({ id }) => id));
  let id = ring.at(-1)?.id ?? 0;
  do id = (id % LARGEST_KEY_ID) + 1;
  while (taken.has(id));
  return id;
}
