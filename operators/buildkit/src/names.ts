import { group } from "./fields.ts";

/** The label that names the pool of an object, as the original has it. */
export const poolLabel = `${group}/pool`;
/** The label that workers and their pods have, and nothing else of a pool: `true`. */
export const workerLabel = `${group}/worker`;
/** On a cache volume: whose cache it has. */
export const affinityAnnotation = `${group}/affinity-key`;
/** On a cache volume: when a worker last released it. */
export const lastUsedAnnotation = `${group}/last-used-at`;

/** The operator's Deployment, service account and metrics, as the original calls its own. */
export const operatorName = "buildkit-controller";
/** The allocation API's Deployment, Service and service account. */
export const apiName = `${operatorName}-api`;
/**
 * The holder of this Lease leads. The original's name: the two never lead at the same time in one
 * namespace.
 */
export const leaseName = "buildkit-controller.smrt-devops.net";
/**
 * The ConfigMap in the operator's namespace that has, as `ca.crt`, what clients of the allocation
 * API are to trust.
 */
export const apiTrustName = "buildkit-ca";

/** Secrets of the whole cluster, in the operator's namespace. */
export const clusterSecrets = {
  /**
   * The client authorities: they sign what clients and gateways show each other. The original's
   * name and keys.
   */
  clientAuthorities: "buildkit-ca",
  /** The keys that tokens are signed with. Each pool has keys derived from them: `poolKeyring`. */
  tokenKeys: "buildkit-token-keys",
} as const;

/** The port where workers speak gRPC. */
export const workerPort = 1234;
/** The port where gateways listen. */
export const gatewayPort = 1235;

/** The names of a pool's objects, in its own namespace. */
export function poolNames(pool: string) {
  return {
    /** What clients call. */
    service: pool,
    gateway: `${pool}-gateway`,
    /**
     * tls.crt, tls.key and ca.crt (who signs clients); server-ca.crt is what clients are given to
     * trust.
     */
    tlsSecret: `${pool}-tls`,
    /**
     * client.crt, client.key, ca.crt: what gateways show workers, and whose certificates they take.
     */
    clientCertsSecret: `${pool}-client-certs`,
    /** The authorities that sign what gateways and workers show each other. */
    workerAuthoritiesSecret: `${pool}-worker-ca`,
    /** keys.json: the pool's own token keys, derived from the cluster's. */
    tokenKeysSecret: `${pool}-token-keys`,
    /** revocations.json: allocations that were taken back before their tokens expired. */
    revocations: `${pool}-revocations`,
    /** A ConfigMap with ca.crt: what clients of the allocation API trust. */
    trust: `${pool}-ca`,
    config: `${pool}-config`,
    workerNetworkPolicy: `${pool}-workers`,
    workerEgressPolicy: `${pool}-workers-egress`,
    /** What the allocation API may do for this pool. */
    apiRole: `${pool}-api`,
    tlsRoute: `${pool}-tlsroute`,
    ingress: `${pool}-ingress`,
  } as const;
}

/**
 * The name of the worker in a slot. No two workers can have one, so a pool never has more than it
 * has slots.
 */
export function workerName(pool: string, slot: number): string {
  return `${pool}-worker-${slot}`;
}

/** The name of the volume that keeps the cache of the worker in a slot. */
export function cacheVolumeName(pool: string, slot: number): string {
  return `${pool}-cache-${slot}`;
}

/** The name of the Secret with a worker's own certificate: tls.crt, tls.key, ca.crt. */
export function workerTlsSecretName(worker: string): string {
  return `${worker}-tls`;
}
