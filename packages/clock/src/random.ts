import { randomFillSync, randomUUID } from "node:crypto";

/** Randomness, handed in: the machine's, or a seeded sequence that a test can play again. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
}

/** The machine's cryptographic randomness. */
export const systemRandom: Random = {
  next() {
    const [a = 0, b = 0] = randomFillSync(new Uint32Array(2));
    return ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
  },
  bytes: (length) => randomFillSync(new Uint8Array(length)),
};

/**
 * The same sequence for the same seed (mulberry32). For tests and simulations, never for secrets.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  };
}

/** A version 4 UUID from the given randomness. */
export function uuid(random: Random): string {
  // The machine's own draws many at a time; every reconcile asks for one.
  if (random === systemRandom) return randomUUID();
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
