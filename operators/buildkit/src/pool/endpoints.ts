import type { ObjectOf } from "@windlass/runtime";
import type { Service } from "@windlass/runtime/kinds";
import { servicePortOf } from "./gateway-objects.ts";
import { outerNames } from "./outer-names.ts";
import type { Pool } from "./pool.ts";

type LiveService = Pick<ObjectOf<typeof Service>, "status">;

const HTTPS_PORT = 443;

/** Where clients in the cluster connect. */
export function internalEndpoint({ metadata: { name, namespace }, spec }: Pool): string {
  return `tcp://${name}.${namespace}.svc:${servicePortOf(spec)}`;
}

/**
 * Where clients outside of the cluster connect; undefined where nothing leads in, or it is not
 * known yet.
 */
export function externalEndpoint({ spec }: Pool, service: LiveService | undefined): string | undefined {
  const { external } = spec.networking;
  const { gatewayAPI, ingress } = spec.gateway;
  const port = servicePortOf(spec);
  if (external.enabled) return `tcp://${external.hostname}:${port}`;
  if (gatewayAPI.enabled) return `tcp://${gatewayAPI.hostname}:${port}`;
  if (ingress.enabled) return `tcp://${ingress.hostname}:${HTTPS_PORT}`;
  const [balancer] = balancersOf(service);
  return balancer === undefined
    ? undefined
    : `tcp://${balancer.includes(":") ? `[${balancer}]` : balancer}:${port}`;
}

/**
 * All names and addresses, besides the Service's own, by which clients may call: the gateway's
 * certificate must have them.
 */
export function outerHosts(pool: Pool, service: LiveService | undefined): readonly string[] {
  return [...outerNames(pool), ...balancersOf(service)];
}

function balancersOf(service: LiveService | undefined): readonly string[] {
  return (service?.status?.loadBalancer?.ingress ?? []).flatMap(({ hostname, ip }) => hostname ?? ip ?? []);
}
