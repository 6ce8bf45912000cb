import { CertificateError, inspect, loadAuthority, splitBundle } from "@windlass/certificates";
import type { Secret } from "@windlass/kinds/builtin";
import { type Authorities, type Dated, trustedOf } from "./rotation.ts";

/** An authority with its certificate, and its key for as long as it may sign. PEM. */
export interface StoredAuthority extends Dated {
  readonly certificate: string;
  readonly key?: string;
}

type Data = NonNullable<Secret["data"]>;

/** An authority from its PEM. @throws CertificateError when the text is no certificate. */
export function authorityFrom(certificate: string, key?: string): StoredAuthority {
  const { fingerprint, notAfter } = inspect(certificate);
  return { id: fingerprint, notAfter, certificate, ...(key === undefined ? {} : { key }) };
}

/** The authorities of a PEM bundle. What is no certificate is left out. */
export function authoritiesIn(bundle: string): readonly StoredAuthority[] {
  return splitBundle(bundle).flatMap((certificate) => {
    try {
      return [authorityFrom(certificate)];
    } catch (error) {
      if (error instanceof CertificateError) return [];
      throw error;
    }
  });
}

/** The PEM bundle of these authorities, without keys. */
export function bundleOf(authorities: readonly StoredAuthority[]): string {
  return authorities.map(({ certificate }) => certificate).join("");
}

/**
 * What the Secret holds: `tls.crt` and `tls.key` sign, `next.crt` and `next.key` will, and `ca.crt`
 * has all that is to be trusted.
 */
export function secretData(shared: Exclude<Authorities<StoredAuthority>, { readonly at: "none" }>): Data {
  const { signer } = shared;
  return {
    "tls.crt": encoded(signer.certificate),
    "tls.key": encoded(signer.key ?? ""),
    "ca.crt": encoded(bundleOf(trustedOf(shared))),
    ...(shared.at === "announcing"
      ? { "next.crt": encoded(shared.next.certificate), "next.key": encoded(shared.next.key ?? "") }
      : {}),
  };
}

/**
 * Reads what {@link secretData} wrote.
 *
 * @throws CertificateError when it is not that, or not any more.
 */
export function authoritiesFrom(data: Data | undefined): Authorities<StoredAuthority> {
  const signer = pairFrom(data, "tls");
  const next = data?.["next.crt"] === undefined ? undefined : pairFrom(data, "next");
  const known = new Set([signer.id, next?.id]);
  const retired = authoritiesIn(decoded(data, "ca.crt")).filter(({ id }) => !known.has(id));
  return next === undefined ? { at: "steady", signer, retired } : { at: "announcing", signer, next, retired };
}

function pairFrom(data: Data | undefined, name: "tls" | "next"): StoredAuthority {
  const certificate = decoded(data, `${name}.crt`);
  const key = decoded(data, `${name}.key`);
  // Loading finds out whether the two belong together.
  loadAuthority(certificate, key);
  return authorityFrom(certificate, key);
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decoded(data: Data | undefined, key: string): string {
  return Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
}
