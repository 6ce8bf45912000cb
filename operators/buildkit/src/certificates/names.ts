import { isIP } from "node:net";
import type { Inspection } from "@windlass/certificates";
import type { PoolName } from "../pool-name.ts";

const poolUriPrefix = "buildkit://pool/";

/** RFC 5280's upper bound. OpenSSL refuses to make a longer one, and other libraries to read it. */
const LONGEST_COMMON_NAME = 64;

/** How a certificate says which pool it is for. */
export function poolUri({ namespace, name }: PoolName): string {
  return `${poolUriPrefix}${namespace}/${name}`;
}

/** The pools that a certificate says it is for. Those of this operator name one. */
export function poolsIn({ uris }: Pick<Inspection, "uris">): readonly string[] {
  return uris.filter((uri) => uri.startsWith(poolUriPrefix)).map((uri) => uri.slice(poolUriPrefix.length));
}

/**
 * The name by which a gateway knows a worker's certificate. It resolves nowhere: pods come and go,
 * and with them their addresses.
 */
export function workerServerName({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return `${name}.${namespace}.worker.buildkit.internal`;
}

/** What a server's certificate is for. */
export interface ServerNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const loopback: readonly string[] = ["127.0.0.1", "::1"];

/**
 * Under what a pool's gateway is reached: its Service, as the original certified it, and whatever
 * else leads there.
 *
 * @param hosts Names or IP addresses.
 */
export function gatewayNames({ namespace, name }: PoolName, hosts: readonly string[] = []): ServerNames {
  const service = [
    name,
    `${name}.${namespace}`,
    `${name}.${namespace}.svc`,
    `${name}.${namespace}.svc.cluster.local`,
  ];
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const hostnames = hosts.filter((host) => isIP(host) === 0);
  return {
    dnsNames: [...new Set([...service, "localhost", ...hostnames])],
    ipAddresses: [...new Set([...loopback, ...addresses])],
  };
}

/** Under what a worker is reached: by gateways, and by probes in its own pod. */
export function workerNames(worker: { readonly namespace: string; readonly name: string }): ServerNames {
  return { dnsNames: [workerServerName(worker), "localhost"], ipAddresses: loopback };
}

/** The first of some names that fits a common name. */
export function fittingCommonName(names: readonly [string, ...string[]]): string {
  const fits = names.find((name) => name.length <= LONGEST_COMMON_NAME);
  return fits ?? names[0].slice(0, LONGEST_COMMON_NAME);
}
