import type { KubernetesObject, ReconcileClient } from "@windlass/runtime";
import { type AnyKind, controllerReference, isNotFound, type ResourceKind } from "@windlass/runtime";
import { poolNames } from "../names.ts";
import { gatewayLabels, servicePortOf } from "./gateway-objects.ts";
import { BuildKitPool, type Pool } from "./pool.ts";

const group = "gateway.networking.k8s.io";

function kindOf(kind: string, plural: string, version: string): ResourceKind<KubernetesObject> {
  return { group, version, kind, plural, scope: "Namespaced" };
}

const gatewayKind = kindOf("Gateway", "gateways", "v1");
/** Newest first. Older clusters serve the experimental ones. */
const routeKinds = ["v1", "v1alpha3", "v1alpha2"].map((version) => kindOf("TLSRoute", "tlsroutes", version));

/** The kinds that a route is made of, for the operator's role. */
export const routePermissions = [gatewayKind, ...routeKinds.slice(0, 1)].map((kind) => ({
  kind,
  verbs: ["get", "create", "patch", "delete"],
}));

/** How it went. */
export type RouteOutcome = { readonly is: "made" } | { readonly is: "unsupported"; readonly message: string };

/**
 * Makes the TLSRoute of a pool, and a Gateway unless it names one. These kinds may not be there, so
 * they are no children: a cluster without them has everything else of the pool.
 */
export async function makeRoute(client: ReconcileClient, pool: Pool): Promise<RouteOutcome> {
  const { gatewayRef } = pool.spec.gateway.gatewayAPI;
  try {
    if (!gatewayRef) await client.apply<AnyKind>(gatewayKind, gatewayFor(pool), { force: true });
    for (const kind of routeKinds) {
      try {
        await client.apply<AnyKind>(kind, routeFor(pool, kind.version), { force: true });
        return { is: "made" };
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return { is: "unsupported", message: "the cluster has no TLSRoute of the Gateway API" };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { is: "unsupported", message: "the cluster has no Gateway of the Gateway API" };
  }
}

/** Deletes what `makeRoute` made. What is not there, or has no kind, is gone already. */
export async function deleteRoute(client: ReconcileClient, pool: Pool): Promise<void> {
  const { namespace, name } = pool.metadata;
  const targets: (readonly [AnyKind, string])[] = [
    ...routeKinds.map((kind) => [kind, poolNames(name).tlsRoute] as const),
    [gatewayKind, gatewayNameOf(pool)],
  ];
  for (const [kind, object] of targets) {
    try {
      await client.delete(kind, { namespace, name: object });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function gatewayNameOf({ metadata, spec }: Pool): string {
  return spec.gateway.gatewayAPI.gatewayName ?? `${metadata.name}-gateway`;
}

function metadataFor(pool: Pool, name: string) {
  return {
    namespace: pool.metadata.namespace,
    name,
    labels: gatewayLabels(pool.metadata.name),
    annotations: pool.spec.gateway.gatewayAPI.annotations,
    ownerReferences: [controllerReference(BuildKitPool, pool)],
  };
}

function gatewayFor(pool: Pool) {
  const { gatewayClassName, hostname } = pool.spec.gateway.gatewayAPI;
  return {
    apiVersion: `${group}/v1`,
    kind: "Gateway",
    metadata: metadataFor(pool, gatewayNameOf(pool)),
    spec: {
      gatewayClassName,
      listeners: [
        {
          name: "buildkit",
          protocol: "TLS",
          port: servicePortOf(pool.spec),
          hostname,
          tls: { mode: "Passthrough" },
        },
      ],
    },
  };
}

function routeFor(pool: Pool, version: string) {
  const { gatewayRef, hostname } = pool.spec.gateway.gatewayAPI;
  const { name } = pool.metadata;
  const parent = gatewayRef ?? { name: gatewayNameOf(pool) };
  return {
    apiVersion: `${group}/${version}`,
    kind: "TLSRoute",
    metadata: metadataFor(pool, poolNames(name).tlsRoute),
    spec: {
      parentRefs: [{ ...parent, ...(gatewayRef ? {} : { sectionName: "buildkit" }) }],
      hostnames: [hostname],
      rules: [{ backendRefs: [{ name: poolNames(name).service, port: servicePortOf(pool.spec) }] }],
    },
  };
}
