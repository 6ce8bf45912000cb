import { createHmac } from "node:crypto";

/** The key where operator and resolver are given no other. */
export const usualPathProbeKey = "elasti";

/** What both sides of a path probe know. */
export interface PathProof {
  /** What the resolver answers a nonce with. Who knows the nonce alone cannot make it. */
  answerTo(nonce: string): string;
}

/** The answers of those who share a key. */
export function pathProof(key: string = usualPathProbeKey): PathProof {
  return { answerTo: (nonce) => createHmac("sha256", key).update(nonce).digest("hex") };
}
