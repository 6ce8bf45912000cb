import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConnectionOptions } from "../grpc/index.ts";
import type { BuildbarnSet } from "./buildbarn-set.ts";
import { tlsOf } from "./internal-tls.ts";

/**
 * Where the operator finds the certificate that it presents to sets with TLS between their
 * components, if one was made at installation.
 */
export const operatorCertificateDirectory = "/internal-tls";

/** A certificate and its key, in PEM; undefined if there is none. */
export type OperatorCertificate = () => Promise<
  { readonly certificate: string; readonly key: string } | undefined
>;

/** Reads what is mounted, again each time: it is replaced while the operator runs. */
export async function mountedCertificate(directory = operatorCertificateDirectory) {
  try {
    const [certificate, key] = await Promise.all(
      ["tls.crt", "tls.key"].map((name) => readFile(join(directory, name), "utf8")),
    );
    return certificate === undefined || key === undefined ? undefined : { certificate, key };
  } catch (error) {
    // The volume is optional.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The Secret that the operator's Deployment mounts, if it is there. */
export const operatorSecret = "buildbarn-operator-internal-tls";

/** Adds to what a component answered why it did, if it is that the operator has nothing to show. */
export function withoutCertificate(
  message: string,
  { authorities, certificate, serverName }: ConnectionOptions,
): string {
  if (authorities === undefined || certificate !== undefined) return message;
  return `${message}; the set uses TLS, and the operator has no certificate: make a Secret ${operatorSecret} in its namespace, for the DNS name ${serverName}`;
}

/**
 * How the operator connects to the components of a set. Without a certificate of its own it is
 * refused by those that use TLS, with that as the reason.
 *
 * @throws SetFault
 */
export async function connectionTo(
  set: BuildbarnSet,
  certificate: OperatorCertificate = mountedCertificate,
): Promise<ConnectionOptions> {
  const tls = tlsOf(set);
  if (!tls) return {};
  const { authorities, serverName } = tls;
  return { authorities, serverName, ...(await certificate()) };
}
