import { serviceNames } from "../certificates/index.ts";
import { poolText } from "../pool-name.ts";
import type { Fault } from "./certificates.ts";
import type { Pool } from "./pool.ts";

/** Whose the names are that a pool may ask for. */
export interface NameHolders {
  /** The names of the allocation API. */
  readonly apiNames: readonly string[];
  /** The pools that have a name, by `allNames`. */
  readonly poolsBy: (name: string) => readonly Pool[];
}

/** A pool as it counts, and why it has not all the names that it asks for. */
export interface NamedPool {
  /** Without the names that are another's. */
  readonly pool: Pool;
  readonly fault: Fault | undefined;
}

/** The form of a Service's name, whatever the cluster's domain is. */
const serviceForm = /^([^.]+[.]){2,}svc([.]|$)/;

/** The names by which clients outside of the cluster call a pool. */
export function outerNames({ spec }: Pool): readonly string[] {
  return [...new Set(askedFor(spec).map(({ name }) => name))];
}

/** All names of a pool. */
export function allNames(pool: Pool): readonly string[] {
  return [...new Set([...serviceNames(pool.metadata), ...outerNames(pool)])];
}

/**
 * Takes names off a pool that are another's. One authority signs what all gateways and the
 * allocation API show: with such a name, a user who may make a pool could pass for them.
 *
 * What a pool of another namespace has stays with it; of two that ask for a name at the same time,
 * the older one gets it.
 */
export function withOwnNames(pool: Pool, holders: NameHolders): NamedPool {
  const refused = askedFor(pool.spec).flatMap(({ field, name }) => {
    const why = whoseIs(name, pool, holders);
    return why === undefined ? [] : [{ name, message: `${field}: ${name} is ${why}: choose another name` }];
  });
  if (refused.length === 0) return { pool, fault: undefined };
  const names = new Set(refused.map(({ name }) => name));
  const { networking, gateway } = pool.spec;
  const without = <T extends { readonly enabled: boolean; readonly hostname?: string | undefined }>(
    block: T,
  ): T =>
    block.hostname !== undefined && names.has(block.hostname)
      ? { ...block, enabled: false, hostname: undefined }
      : block;
  return {
    pool: {
      ...pool,
      spec: {
        ...pool.spec,
        networking: { ...networking, external: without(networking.external) },
        gateway: { ...gateway, gatewayAPI: without(gateway.gatewayAPI), ingress: without(gateway.ingress) },
      },
    },
    fault: { reason: "HostnameTaken", message: refused.map(({ message }) => message).join("; ") },
  };
}

function askedFor({ networking, gateway }: Pool["spec"]) {
  const fields = {
    "spec.networking.external.hostname": networking.external.hostname,
    "spec.gateway.gatewayAPI.hostname": gateway.gatewayAPI.hostname,
    "spec.gateway.ingress.hostname": gateway.ingress.hostname,
  };
  return Object.entries(fields).flatMap(([field, name]) => (name === undefined ? [] : [{ field, name }]));
}

/** Undefined if nobody else has it. */
function whoseIs(name: string, pool: Pool, { apiNames, poolsBy }: NameHolders): string | undefined {
  if (apiNames.includes(name)) return "a name of the allocation API";
  if (serviceNames(pool.metadata).includes(name)) return undefined;
  if (serviceForm.test(name)) return "the name of a Service";
  const { namespace } = pool.metadata;
  const asking = poolsBy(name);
  // What one pool of a namespace has, the others may have too.
  const ours = [pool, ...asking.filter(({ metadata }) => metadata.namespace === namespace)];
  const other = asking.find(
    (one) => one.metadata.namespace !== namespace && ours.every((own) => comesBefore(one, own, name)),
  );
  return other && `a name of BuildKitPool ${poolText(other.metadata)}`;
}

function comesBefore(other: Pool, pool: Pool, name: string): boolean {
  if (serviceNames(other.metadata).includes(name)) return true;
  const has = ({ status }: Pool) => status?.hostnames?.includes(name) ?? false;
  if (has(other) !== has(pool)) return has(other);
  const order = ({ metadata }: Pool) => `${metadata.creationTimestamp} ${poolText(metadata)}`;
  return order(other) < order(pool);
}
