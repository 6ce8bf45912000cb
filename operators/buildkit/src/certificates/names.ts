import { isIP } from "node:net";
import type { Inspection } from "@windlass/certificates";
import { apiName } from "../names.ts";
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

/** By what names clients in the cluster call a Service. */
export function serviceNames({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): readonly string[] {
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}

/** What the names of the allocation API follow from. */
export interface ApiNamesInit {
  /** The operator's. */
  readonly namespace: string;
  /** @default "buildkit-controller-api" */
  readonly service?: string;
  /** Names by which clients outside reach it. @default none */
  readonly hostnames?: readonly string[];
}

/**
 * Under what the allocation API is reached. Clients know it by the same authority as gateways, so
 * no gateway's certificate may have any of them.
 */
export function apiServerNames(init: ApiNamesInit): readonly string[] {
  const { namespace, service = apiName, hostnames = [] } = init;
  return [...new Set([...serviceNames({ namespace, name: service }), ...hostnames])];
}

/**
 * Under what a pool's gateway is reached: its Service, as the original certified it, and whatever
 * else leads there.
 *
 * @param hosts Names or IP addresses.
 * @param reserved Names of another server, which are left out.
 */
export function gatewayNames(
  pool: PoolName,
  hosts: readonly string[] = [],
  reserved: readonly string[] = [],
): ServerNames {
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const hostnames = hosts.filter((host) => isIP(host) === 0);
  const ofOthers = new Set(reserved);
  const own = (names: readonly string[]) => names.filter((name) => !ofOthers.has(name));
  return {
    dnsNames: [...new Set([...own(serviceNames(pool)), "localhost", ...own(hostnames)])],
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
