import type { Authority, KeyPair, SigningRequest } from "@windlass/certificates";
import type { PoolName } from "../pool-name.ts";
import { type IssuedToken, tokenNames } from "../tokens/index.ts";
import { fittingCommonName, poolUri, type ServerNames, workerNames } from "./names.ts";

/** What a client's certificate is made of. It ends when its token does. */
export interface AllocationCertificateInit {
  readonly pool: PoolName;
  readonly issued: Pick<IssuedToken, "token" | "expiresAt">;
}

const clientOrganization = "BuildKit Client";

/** A key and a certificate for the client of an allocation. @param authority Of the client ring. */
export function allocationCertificate(authority: Authority, init: AllocationCertificateInit): KeyPair {
  const { commonName, uri } = tokenNames(init.issued.token);
  return authority.issue({
    commonName,
    organizations: [clientOrganization],
    uris: [uri, poolUri(init.pool)],
    usages: ["client"],
    notAfter: init.issued.expiresAt,
  });
}

/** A client asked for a certificate for a key that is too weak. */
export class WeakKeyError extends Error {
  override readonly name = "WeakKeyError";
}

/** @throws WeakKeyError for RSA of less than 2048 bits. */
export function checkKeyLength({ asymmetricKeyDetails }: SigningRequest["publicKey"]): void {
  const bits = asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < 2_048)
    throw new WeakKeyError(`the request is for an RSA key of ${bits} bits: use 2048 or more, or an EC key`);
}

/**
 * A certificate for a key that the client keeps to itself. Of the request only the key counts:
 * names are the operator's.
 *
 * @param authority Of the client ring.
 * @returns PEM
 * @throws WeakKeyError for RSA of less than 2048 bits.
 */
export function signAllocationCertificate(
  authority: Authority,
  { publicKey }: Pick<SigningRequest, "publicKey">,
  init: AllocationCertificateInit,
): string {
  checkKeyLength(publicKey);
  const { commonName, uri } = tokenNames(init.issued.token);
  return authority.sign(
    {
      subject: { commonName, organizations: [clientOrganization] },
      publicKey,
      names: [uri, poolUri(init.pool)].map((value) => ({ type: "uri", value })),
    },
    { usages: ["client"], keyUsages: ["digitalSignature"], notAfter: init.issued.expiresAt },
  );
}

/**
 * What a gateway shows its clients.
 *
 * @param authority Of the client ring.
 * @param init With `gatewayNames`.
 */
export function gatewayCertificate(
  authority: Authority,
  init: {
    readonly pool: PoolName;
    readonly names: ServerNames;
    readonly validFor: number;
    /** @default "BuildKit Pool" */
    readonly organization?: string;
  },
): KeyPair {
  const { pool, names, validFor, organization = "BuildKit Pool" } = init;
  return authority.issue({
    commonName: fittingCommonName([`${pool.name}.${pool.namespace}.svc.cluster.local`, pool.name]),
    organizations: [organization],
    ...names,
    usages: ["server"],
    validFor,
  });
}

/** What a gateway shows the workers of its pool. @param authority Of the worker ring. */
export function gatewayClientCertificate(
  authority: Authority,
  { pool, validFor }: { readonly pool: PoolName; readonly validFor: number },
): KeyPair {
  return authority.issue({
    commonName: fittingCommonName([`client@${pool.name}`]),
    organizations: [clientOrganization],
    uris: [poolUri(pool)],
    usages: ["client"],
    validFor,
  });
}

/** What a worker shows the gateways of its pool. @param authority Of the worker ring. */
export function workerCertificate(
  authority: Authority,
  init: {
    readonly worker: { readonly namespace: string; readonly name: string };
    readonly pool: PoolName;
    readonly validFor: number;
  },
): KeyPair {
  const { worker, pool, validFor } = init;
  return authority.issue({
    commonName: fittingCommonName([worker.name]),
    organizations: ["BuildKit Worker"],
    ...workerNames(worker),
    uris: [poolUri(pool)],
    usages: ["server"],
    validFor,
  });
}
