import type { KubernetesObject, ReconcileClient } from "@windlass/runtime";
import {
  type AnyKind,
  ApiError,
  controllerOf,
  controllerReference,
  ignoreNotFound,
  isNotFound,
  type ResourceKind,
} from "@windlass/runtime";
import { poolLabel, poolNames } from "../names.ts";
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
  verbs: ["get", "list", "create", "patch", "delete"],
}));

/** How it went. */
export type RouteOutcome =
  | { readonly is: "made" }
  | { readonly is: "not-made"; readonly reason: string; readonly message: string };

/**
 * Makes the TLSRoute of a pool, and a Gateway unless it names one, and deletes the Gateways that it
 * made before under another name. These kinds may not be there, so they are no children: a cluster
 * without them has everything else of the pool. Objects of others by their names are left alone.
 */
export async function makeRoute(client: ReconcileClient, pool: Pool): Promise<RouteOutcome> {
  const { gatewayRef } = pool.spec.gateway.gatewayAPI;
  return await reported(async () => {
    const kind = await servedRouteKind(client, pool);
    if (!kind) {
      await deleteGateways(client, pool, undefined);
      return missing("the cluster has no TLSRoute of the Gateway API");
    }
    if (!gatewayRef) await applyOwn(client, gatewayKind, pool, gatewayFor(pool));
    await applyOwn(client, kind, pool, routeFor(pool, kind.version));
    await deleteGateways(client, pool, gatewayRef ? undefined : gatewayNameOf(pool));
    return { is: "made" };
  });
}

/**
 * Deletes what `makeRoute` made. What is not there, or has no kind, is gone already. Undefined once
 * nothing is left.
 */
export async function deleteRoute(
  client: ReconcileClient,
  pool: Pool,
): Promise<Exclude<RouteOutcome, { readonly is: "made" }> | undefined> {
  const outcome = await reported(async () => {
    const kind = await servedRouteKind(client, pool);
    const { namespace, name } = pool.metadata;
    const route = { namespace, name: poolNames(name).tlsRoute };
    const found = kind && (await ignoreNotFound(client.live.get<AnyKind>(kind, route)));
    if (kind && found && isOwn(found, pool)) await deleteOwn(client, kind, found);
    await deleteGateways(client, pool, undefined);
    return { is: "made" };
  });
  return outcome.is === "made" ? undefined : outcome;
}

/** What the API server refuses is the route's condition: everything else of the pool goes on. */
async function reported(work: () => Promise<RouteOutcome>): Promise<RouteOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RouteError) return { is: "not-made", reason: error.reason, message: error.message };
    if (!(error instanceof ApiError)) throw error;
    if (isNotFound(error)) return missing("the cluster has no Gateway of the Gateway API");
    const reason = /^[A-Z][A-Za-z]*$/.test(error.reason) ? error.reason : "RouteRefused";
    return { is: "not-made", reason, message: error.message };
  }
}

function missing(message: string): RouteOutcome {
  return { is: "not-made", reason: "GatewayAPIMissing", message };
}

class RouteError extends Error {
  override readonly name = "RouteError";
  readonly reason = "RouteNameTaken";
}

/** The newest version of TLSRoute that the cluster serves; undefined if it serves none. */
async function servedRouteKind(
  client: ReconcileClient,
  { metadata: { namespace } }: Pool,
): Promise<ResourceKind<KubernetesObject> | undefined> {
  for (const kind of routeKinds)
    try {
      await client.live.list<AnyKind>(kind, { namespace, limit: 1 });
      return kind;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  return undefined;
}

/**
 * Applies an object of the pool.
 *
 * @throws RouteError if an object of that name is not the pool's.
 */
async function applyOwn(
  client: ReconcileClient,
  kind: AnyKind,
  pool: Pool,
  object: ReturnType<typeof gatewayFor | typeof routeFor>,
): Promise<void> {
  const { namespace, name } = object.metadata;
  const found = await ignoreNotFound(client.live.get<AnyKind>(kind, { namespace, name }));
  if (found && !isOwn(found, pool))
    throw new RouteError(
      `${kind.kind} ${namespace}/${name} exists and was not made for this pool, so it is left alone: ${
        kind === gatewayKind
          ? "set another spec.gateway.gatewayAPI.gatewayName, or name it in gatewayRef to attach to it"
          : "delete or rename it"
      }`,
    );
  // By uid, so that another one that took its place meanwhile is not written; and what is made by
  // others at this moment conflicts.
  if (!found) await client.apply<AnyKind>(kind, object);
  else {
    const metadata = { ...object.metadata, uid: found.metadata.uid };
    await client.apply<AnyKind>(kind, { ...object, metadata }, { force: true });
  }
}

/** Deletes the Gateways that were made for a pool, except for one. */
async function deleteGateways(client: ReconcileClient, pool: Pool, kept: string | undefined): Promise<void> {
  const { namespace, name } = pool.metadata;
  const labelSelector = `${poolLabel}=${name}`;
  const found = await ignoreNotFound(client.live.list<AnyKind>(gatewayKind, { namespace, labelSelector }));
  for (const gateway of found?.items ?? [])
    if (gateway.metadata.name !== kept && isOwn(gateway, pool)) await deleteOwn(client, gatewayKind, gateway);
}

function isOwn(object: KubernetesObject, pool: Pool): boolean {
  return controllerOf(object)?.uid === pool.metadata.uid;
}

async function deleteOwn(
  client: ReconcileClient,
  kind: AnyKind,
  { metadata }: KubernetesObject,
): Promise<void> {
  const { uid } = metadata;
  await ignoreNotFound(client.delete(kind, metadata, { preconditions: { uid } }));
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
