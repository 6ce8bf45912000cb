import { z } from "zod";

/** What an issuer publishes of itself. */
export interface Discovered {
  readonly jwksUri: string;
  /** How many keys it has that can verify signatures. */
  readonly keys: number;
}

/** An issuer could not be used. `reason` is one CamelCase word. */
export class DiscoveryError extends Error {
  override readonly name = "DiscoveryError";
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Gets a JSON document. */
export type FetchJson = (url: string, signal: AbortSignal) => Promise<unknown>;

const document = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.object({ kty: z.string(), use: z.string().optional() })) });

/**
 * Asks an issuer for its discovery document and its keys.
 *
 * @throws DiscoveryError that says what is wrong.
 */
export async function discover(
  issuer: string,
  fetchJson: FetchJson,
  signal: AbortSignal,
): Promise<Discovered> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const found = document.safeParse(await get(url, fetchJson, signal));
  if (!found.success) throw new DiscoveryError("DiscoveryInvalid", `${url} is no discovery document`);
  // A document of another issuer would let that one speak for this one.
  if (found.data.issuer !== issuer)
    throw new DiscoveryError("IssuerMismatch", `${url} is of issuer ${found.data.issuer}, not of ${issuer}`);
  const { jwks_uri: jwksUri } = found.data;
  const keys = keySet.safeParse(await get(jwksUri, fetchJson, signal));
  if (!keys.success) throw new DiscoveryError("KeysInvalid", `${jwksUri} is no set of keys`);
  const usable = keys.data.keys.filter(
    ({ kty, use }) => kty !== "oct" && (use === undefined || use === "sig"),
  );
  if (usable.length === 0)
    throw new DiscoveryError("NoKeys", `${jwksUri} has no key that verifies signatures`);
  return { jwksUri, keys: usable.length };
}

async function get(url: string, fetchJson: FetchJson, signal: AbortSignal): Promise<unknown> {
  try {
    return await fetchJson(url, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    throw new DiscoveryError("IssuerUnreachable", `${url}: ${message}`, { cause: error });
  }
}
