import type { Inspection } from "@windlass/certificates";

const commonNamePrefix = "alloc:";
const uriPrefix = "buildkit://allocation/";

/**
 * How a certificate carries a token: in its common name, for those who know the original, and as a
 * URI.
 */
export function tokenNames(token: string): { readonly commonName: string; readonly uri: string } {
  return { commonName: `${commonNamePrefix}${token}`, uri: `${uriPrefix}${token}` };
}

/** What a certificate carries. */
export type CarriedToken =
  | { readonly has: "token"; readonly token: string }
  | { readonly has: "none" }
  /** More than one, and not all the same: such a certificate stands for nothing. */
  | { readonly has: "several" };

/** The token in a certificate. A common name without the prefix is a name, not a token. */
export function tokenIn({ subject, uris }: Pick<Inspection, "subject" | "uris">): CarriedToken {
  const tokens = new Set([
    ...uris.filter((uri) => uri.startsWith(uriPrefix)).map((uri) => uri.slice(uriPrefix.length)),
    ...[subject.commonName]
      .filter((name) => name.startsWith(commonNamePrefix))
      .map((name) => name.slice(commonNamePrefix.length)),
  ]);
  if (tokens.size > 1) return { has: "several" };
  const [token] = tokens;
  return token === undefined ? { has: "none" } : { has: "token", token };
}
