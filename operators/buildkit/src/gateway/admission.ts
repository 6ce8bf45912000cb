import type { TLSSocket } from "node:tls";
import { inspect } from "@windlass/certificates";
import { poolsIn } from "../certificates/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { type AllocationHash, type Keyring, tokenIn, verifyToken } from "../tokens/index.ts";
import {
  badCertificate,
  badToken,
  noCertificate,
  noToken,
  type Refusal,
  severalTokens,
  wrongPool,
} from "./refusal.ts";

/** What a client has shown in its handshake. */
export type Shown =
  | { readonly is: "nothing" }
  /** A certificate that does not verify, and OpenSSL's code for why. */
  | { readonly is: "unverified"; readonly error: string }
  /** A certificate that verifies, in DER. */
  | { readonly is: "verified"; readonly certificate: Uint8Array };

/** Whether a client may connect, before anything is known of its worker. */
export type Admission =
  | { readonly is: "admitted"; readonly allocation: AllocationHash }
  | { readonly is: "refused"; readonly refusal: Refusal };

/** Decides whether a client may connect. Pure. */
export function admit(
  shown: Shown,
  { pool, keys, now }: { readonly pool: PoolName; readonly keys: Keyring; readonly now: number },
): Admission {
  if (shown.is === "nothing") return refused(noCertificate);
  if (shown.is === "unverified") return refused(badCertificate(shown.error));
  const certificate = inspect(shown.certificate);
  const foreign = poolsIn(certificate).find((name) => name !== poolText(pool));
  if (foreign !== undefined) return refused(wrongPool(foreign, pool));
  const carried = tokenIn(certificate);
  if (carried.has === "none") return refused(noToken);
  if (carried.has === "several") return refused(severalTokens);
  const verification = verifyToken(keys, carried.token, now);
  if (verification.is !== "valid") return refused(badToken(verification));
  return { is: "admitted", allocation: verification.allocation };
}

/** What the client of a socket has shown. */
export function shownBy(client: TLSSocket): Shown {
  const certificate = client.getPeerX509Certificate();
  if (!certificate) return { is: "nothing" };
  // Typed as an Error, and set to OpenSSL's code.
  if (!client.authorized) return { is: "unverified", error: String(client.authorizationError) };
  return { is: "verified", certificate: certificate.raw };
}

function refused(refusal: Refusal): Admission {
  return { is: "refused", refusal };
}
