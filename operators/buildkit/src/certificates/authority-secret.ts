import { CertificateError, inspect, loadAuthority } from "@windlass/certificates";
import { z } from "zod";
import { type AuthorityRing, type StoredAuthority, trustBundle } from "./authorities.ts";

/** The keys of an authority Secret's data. */
export const authorityDataKeys = {
  /** The ring itself. */
  ring: "authorities.json",
  /** The bundle to trust, as the original named it. */
  bundle: "ca.crt",
  /** The key of the original's one authority. Read, never written. */
  originalKey: "ca.key",
} as const;

/**
 * A Secret holds no ring that can be used. It is never replaced by itself: new authorities would
 * lock out all who trust the old ones. The message holds no key material.
 */
export class AuthoritySecretError extends Error {
  override readonly name = "AuthoritySecretError";
}

const stored = z
  .array(z.object({ addedAt: z.iso.datetime(), certificate: z.string(), key: z.string().optional() }))
  .min(1);

/** The data of a Secret for a ring. */
export function writeAuthorities(ring: AuthorityRing): Readonly<Record<string, string>> {
  const entries = ring.map(({ addedAt, ...pair }) => ({ addedAt: new Date(addedAt).toISOString(), ...pair }));
  return {
    [authorityDataKeys.ring]: `${JSON.stringify(entries, null, 2)}\n`,
    [authorityDataKeys.bundle]: trustBundle(ring),
  };
}

/**
 * Reads what `writeAuthorities` wrote, or the original's Secret with `ca.crt` and `ca.key`.
 *
 * @param data Decoded from base64.
 * @throws AuthoritySecretError that says what is wrong.
 */
export function readAuthorities(data: Readonly<Record<string, string>>): AuthorityRing {
  const { ring, bundle, originalKey } = authorityDataKeys;
  const text = data[ring];
  const [certificate, key] = [data[bundle], data[originalKey]];
  if (text === undefined && certificate !== undefined && key !== undefined) {
    const original = { certificate, key };
    checked(original, bundle);
    return [{ addedAt: inspect(certificate).notBefore, ...original }];
  }
  if (text === undefined)
    throw new AuthoritySecretError(`there is neither ${ring} nor ${bundle} with ${originalKey}`);
  const { data: entries, error } = stored.safeParse(parseJson(text, ring));
  if (error) {
    const [issue] = error.issues;
    throw new AuthoritySecretError(`${ring}: ${issue?.path.join(".") || "the list"}: ${issue?.message}`);
  }
  return entries
    .map(({ addedAt, certificate: pem, key: itsKey }, index) => {
      const pair = { certificate: pem, ...(itsKey === undefined ? {} : { key: itsKey }) };
      checked(pair, `${ring}: ${index}`);
      return { addedAt: Date.parse(addedAt), ...pair };
    })
    .toSorted((a, b) => a.addedAt - b.addedAt);
}

function checked({ certificate, key }: Omit<StoredAuthority, "addedAt">, where: string): void {
  try {
    if (key !== undefined) loadAuthority(certificate, key);
    else if (!inspect(certificate).authority) throw new AuthoritySecretError(`${where}: not an authority`);
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new AuthoritySecretError(`${where}: ${error.message}`, { cause: error });
  }
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which holds the keys.
    throw new AuthoritySecretError(`${where}: not JSON`);
  }
}
