import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type Duration, milliseconds, type Random } from "@windlass/clock";
import { type KeyRotation, type Keyring, signingKey } from "./keyring.ts";
import { defaultTtlMs, longestTtlMs } from "./lifetime.ts";

declare const isAllocationHash: unique symbol;

/**
 * What stands for an allocation wherever one is stored or compared: the SHA-256 of its id, in hex.
 * No token can be made from it. All tokens of an allocation, renewed ones too, have the same.
 */
export type AllocationHash = string & { readonly [isAllocationHash]: true };

/** What to make a token of. */
export interface TokenInit {
  /** From `newAllocationId`. The same again renews a token. */
  readonly allocationId: Uint8Array;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long it holds: at most 24 hours. @default "1h" */
  readonly ttl?: Duration;
}

/** A token that was made. `token` is for its owner alone. */
export interface IssuedToken {
  readonly token: string;
  readonly allocation: AllocationHash;
  /** Epoch milliseconds, a whole second. */
  readonly expiresAt: number;
}

/** What there is to say of a text that claims to be a token. */
export type Verification =
  | { readonly is: "valid"; readonly allocation: AllocationHash; readonly expiresAt: number }
  /** Signed by us, and over. */
  | { readonly is: "expired"; readonly allocation: AllocationHash; readonly expiresAt: number }
  /** Not of the form of a token. */
  | { readonly is: "malformed" }
  /** Signed with a key that the ring does not have: too old, or foreign. */
  | { readonly is: "unknown-key"; readonly keyId: number }
  /** The signature is not that of the key it names: forged, altered, or of another pool. */
  | { readonly is: "forged" };

/*
 * A token is 39 bytes, which base64url writes as 52 characters with no bits left over: each token
 * has exactly one text. As `alloc:<token>` it takes 58 of the 64 characters that X.509 gives a
 * common name.
 *
 *   0         1     3            7               23                      39
 *   | version | key | expiry (s) | allocation id | HMAC-SHA256, 16 bytes |
 */
const VERSION = 1;
const ID_BYTES = 16;
const TAG_BYTES = 16;
const SIGNED_BYTES = 7 + ID_BYTES;
const tokenText = /^[A-Za-z0-9_-]{52}$/;

/** An id for a new allocation. It goes into the token and nowhere else. */
export function newAllocationId(random: Pick<Random, "bytes">): Uint8Array {
  return random.bytes(ID_BYTES);
}

/**
 * Makes a token that every holder of the ring can verify by itself.
 *
 * @throws RangeError for a ring without keys, or a lifetime that is not above 0 and at most 24
 *   hours.
 */
export function issueToken(ring: Keyring, init: TokenInit, rotation: KeyRotation = {}): IssuedToken {
  const { allocationId, now, ttl = defaultTtlMs } = init;
  const ttlMs = milliseconds(ttl, "token: ttl");
  if (!(ttlMs > 0 && ttlMs <= longestTtlMs))
    throw new RangeError(`token: ttl (${ttl}) must be above 0 and at most 24h`);
  if (allocationId.length !== ID_BYTES)
    throw new RangeError(`token: an allocation id has ${ID_BYTES} bytes, not ${allocationId.length}`);
  const key = signingKey(ring, now, rotation);
  if (!key) throw new RangeError("token: there is no key to sign with");
  const expirySeconds = Math.ceil((now + ttlMs) / 1_000);
  const signed = Buffer.alloc(SIGNED_BYTES);
  signed.writeUInt8(VERSION, 0);
  signed.writeUInt16BE(key.id, 1);
  signed.writeUInt32BE(expirySeconds, 3);
  signed.set(allocationId, 7);
  return {
    token: Buffer.concat([signed, tagOf(signed, key.secret)]).toString("base64url"),
    allocation: hashOf(allocationId),
    expiresAt: expirySeconds * 1_000,
  };
}

/**
 * Verifies a token by the ring and the time alone. Never throws, and says nothing of a token that
 * is not signed by us.
 */
export function verifyToken(ring: Keyring, text: string, now: number): Verification {
  if (!tokenText.test(text)) return { is: "malformed" };
  const bytes = Buffer.from(text, "base64url");
  if (bytes.readUInt8(0) !== VERSION) return { is: "malformed" };
  const keyId = bytes.readUInt16BE(1);
  const key = ring.find(({ id }) => id === keyId);
  if (!key) return { is: "unknown-key", keyId };
  const signed = bytes.subarray(0, SIGNED_BYTES);
  if (!timingSafeEqual(tagOf(signed, key.secret), bytes.subarray(SIGNED_BYTES))) return { is: "forged" };
  const allocation = hashOf(signed.subarray(7));
  const expiresAt = signed.readUInt32BE(3) * 1_000;
  return { is: now < expiresAt ? "valid" : "expired", allocation, expiresAt };
}

/** A hash that was stored, read back; undefined for any other text. */
export function parseAllocationHash(text: string): AllocationHash | undefined {
  return /^[0-9a-f]{64}$/.test(text) ? (text as AllocationHash) : undefined;
}

function hashOf(allocationId: Uint8Array): AllocationHash {
  return createHash("sha256").update(allocationId).digest("hex") as AllocationHash;
}

function tagOf(signed: Uint8Array, secret: Uint8Array): Uint8Array {
  return createHmac("sha256", secret).update(signed).digest().subarray(0, TAG_BYTES);
}
