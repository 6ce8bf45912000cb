import {
  type CacheEvent,
  type ContextOf,
  child,
  controller,
  controllerReference,
  declaration,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ObjectOf,
  ReconcileError,
  watch,
} from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { type CredentialStore, managedByLabel } from "../credentials.ts";
import { poolLabel, poolNames, workerLabel, workerName } from "../names.ts";
import { BuildKitRequest, type WaitingRequest } from "../request/request.ts";
import { configHashOf, workerToml } from "../worker/pod.ts";
import { BuildKitWorker, type Worker } from "../worker/worker.ts";
import { apiAccess, grantedPermissions } from "./api-access.ts";
import { cacheVolumes, claimFor, volumesEnd } from "./cache-volumes.ts";
import { type Fault, type PoolCertificates, poolCertificates } from "./certificates.ts";
import { outerHosts } from "./endpoints.ts";
import { failuresOf } from "./failures.ts";
import { gatewayChildren } from "./gateway-objects.ts";
import { forgetPool, reportPool } from "./metrics.ts";
import { networkPolicies } from "./network-policies.ts";
import { allNames, withOwnNames } from "./outer-names.ts";
import { BuildKitPool, type Pool } from "./pool.ts";
import { RequestLives } from "./request-lives.ts";
import { deleteRoute, makeRoute, type RouteOutcome, routePermissions } from "./route.ts";
import { type ScalingPlan, scalingPlan } from "./scaling.ts";
import { scalingRules, seenWorker } from "./scaling-input.ts";
import { scheduledAt } from "./schedule.ts";
import { phaseCounts, phaseOf, poolStatusOf } from "./status.ts";

/** What the pools' controller stands on. */
export interface PoolDependencies {
  readonly credentials: CredentialStore;
  /** The image of gateways whose pool names none. */
  readonly gatewayImage: string;
  /** Where the operator runs. */
  readonly operatorNamespace: string;
  /** The names of the allocation API, which no pool may have. */
  readonly apiNames: readonly string[];
}

const declared = (pace: Pace) =>
  declaration(BuildKitPool, {
    indexes: { name: allNames },
    owns: [
      ConfigMap,
      Deployment,
      Ingress,
      NetworkPolicy,
      PersistentVolumeClaim,
      PodDisruptionBudget,
      Role,
      RoleBinding,
      Service,
      ServiceAccount,
      { kind: BuildKitWorker, predicate: (change: CacheEvent<Worker>) => !pace.isTold(change) },
      { kind: Secret, metadataOnly: true },
    ],
    watches: [
      watch(
        BuildKitRequest,
        ({ metadata, spec }) => ({ namespace: metadata.namespace, name: spec.poolRef.name }),
        { indexes: { pool: ({ metadata, spec }) => [`${metadata.namespace}/${spec.poolRef.name}`] } },
      ),
    ],
  });
type Context = ContextOf<ReturnType<typeof declared>>;

const DRAIN_LOOK_MS = 5_000;
/** How soon a pool is looked at again whose certificates or route could not be made. */
const FAULT_LOOK_MS = 30_000;
/**
 * How often a pool is looked at whose workers are claimed and released all the time; and while
 * requests wait that may need another worker.
 */
const PACE_MS = 1_000;
const WAITING_PACE_MS = 100;

/** Keeps the gateway, the certificates and the workers of each pool as the pool says. */
export function poolController(dependencies: PoolDependencies) {
  const pace = new Pace();
  const lives = new PoolRequestLives();
  return controller(BuildKitPool, {
    ...declared(pace),
    name: "buildkitpool",
    permissions: [
      ...routePermissions,
      ...grantedPermissions,
      // Keys and authorities are written as a whole, by the replica that read them last.
      { kind: Secret, verbs: ["update"] },
      { kind: BuildKitRequest, verbs: ["delete"] },
      // A role may only grant what the operator has itself.
      { kind: BuildKitWorker, verbs: ["get", "list", "watch"] },
    ],
    concurrency: 8,
    reconcile: async (pool, context) => {
      const { namespace, name } = context.key;
      const requests = context.cache.byIndex(BuildKitRequest, "pool", `${namespace}/${name}`);
      const waitMs = pace.waitMs(pool, requests.length, context);
      if (waitMs > 0) return { requeueAfter: waitMs };
      try {
        return await reconcile(pool, requests, context, dependencies, lives.of(context.key));
      } catch (error) {
        // What has failed is tried again as its backoff says.
        pace.forget(context.key);
        throw error;
      }
    },
    finalize: (pool, context) => {
      const { namespace, name } = context.key;
      pace.forget(context.key);
      lives.forget(context.key);
      return drain(pool, context.cache.byIndex(BuildKitRequest, "pool", `${namespace}/${name}`), context);
    },
  });
}

/**
 * Lets many changes of a pool's workers be one look at it. What changes besides them is looked at
 * right away: the pool itself, its gateway, the first request of those that wait, a worker that
 * fails or goes.
 */
class Pace {
  readonly #last = new Map<string, { readonly at: number; readonly of: string }>();
  /** Pools that are going to be looked at in a moment. */
  readonly #due = new Set<string>();

  /** Whether the look that is due takes a change in: a worker was given out or given back. */
  isTold(change: CacheEvent<Worker>): boolean {
    if (change.type !== "updated" || !isUp(change.old) || !isUp(change.object)) return false;
    const { metadata, spec } = change.object;
    return this.#due.has(`${metadata.namespace}/${spec.poolRef.name}`);
  }

  waitMs(pool: Pool, waiting: number, { clock, key, ownedAll }: Context): number {
    const now = clock.monotonic();
    const counts = phaseCounts(ownedAll(BuildKitWorker));
    const { Idle: _idle, Allocated: _allocated, Running: _running, ...others } = counts;
    const gateway = ownedAll(Deployment).map(({ metadata }) => metadata.resourceVersion);
    const of = JSON.stringify([pool.metadata.uid, pool.metadata.generation, waiting > 0, others, gateway]);
    const name = `${key.namespace}/${key.name}`;
    const last = this.#last.get(name);
    const dueAt = (last?.at ?? 0) + (waiting > 0 ? WAITING_PACE_MS : PACE_MS);
    if (last?.of === of && now < dueAt) {
      this.#due.add(name);
      return dueAt - now;
    }
    this.#due.delete(name);
    this.#last.set(name, { at: now, of });
    return 0;
  }

  forget({ namespace, name }: Context["key"]): void {
    this.#last.delete(`${namespace}/${name}`);
    this.#due.delete(`${namespace}/${name}`);
  }
}

/**
 * What was seen of the requests of each pool. Losing it has those count for a moment longer that
 * no client renews.
 */
class PoolRequestLives {
  readonly #pools = new Map<string, RequestLives>();

  of({ namespace, name }: Context["key"]): RequestLives {
    const pool = `${namespace}/${name}`;
    const known = this.#pools.get(pool) ?? new RequestLives();
    this.#pools.set(pool, known);
    return known;
  }

  forget({ namespace, name }: Context["key"]): void {
    this.#pools.delete(`${namespace}/${name}`);
  }
}

function isUp(worker: Worker): boolean {
  return ["Idle", "Allocated", "Running"].includes(phaseOf(worker));
}

async function reconcile(
  asked: Pool,
  requests: readonly WaitingRequest[],
  context: Context,
  dependencies: PoolDependencies,
  lives: RequestLives,
) {
  const { cache, clock, key, ownedAll } = context;
  const { pool, fault: refusedName } = withOwnNames(asked, {
    apiNames: dependencies.apiNames,
    poolsBy: (name) => cache.byIndex(BuildKitPool, "name", name),
  });
  const now = clock.now();
  const workers = ownedAll(BuildKitWorker);
  const endOf = (request: WaitingRequest) =>
    lives.endOf(request, { wall: now, monotonic: clock.monotonic() });
  lives.keep(requests);
  const waiting = await stillWaiting(requests, workers, context, (request) => now >= endOf(request));
  const failures = failuresOf(failuresBefore(pool), workers);
  const configHash = configHashOf(pool);
  const scheduled = scheduledAt(pool.spec.scaling, now);
  const claims = ownedAll(PersistentVolumeClaim);
  const plan = scalingPlan(
    {
      now,
      workers: workers.map((worker) => seenWorker(worker, configHash, now)),
      waiting: waiting.map(({ spec }) => ({ owner: spec.requestedBy, affinityKey: spec.affinityKey })),
      slotAffinity: new Map(
        cacheVolumes(pool, { workers, created: [], claims, now }).flatMap(({ slot, affinityKey }) =>
          affinityKey === undefined ? [] : [[slot, affinityKey] as const],
        ),
      ),
      failures,
      blockedSlots: blockedSlots(pool, workers, context),
    },
    scalingRules(pool, scheduled),
  );
  await Promise.all([makeWorkers(plan, pool, context), removeWorkers(plan, workers, context)]);
  const volumes = cacheVolumes(pool, { workers, created: plan.create.map(({ slot }) => slot), claims, now });
  const service = context.owned(Service, poolNames(key.name).service);
  const certificates = await certificatesOf(pool, service, context, dependencies);
  const route = await routeOf(pool, context);
  const present = ownedAll(BuildKitWorker);
  const status = poolStatusOf(pool, {
    now,
    gateway: context.owned(Deployment, poolNames(key.name).gateway),
    service,
    workers: present,
    waiting,
    plan,
    failures,
    configHash,
    volumes,
    certificates,
    refusedName,
    route,
  });
  report(pool, present, waiting, certificates, context);
  const looks = [
    plan.until,
    scheduled.until,
    volumesEnd(pool, volumes),
    "until" in certificates ? certificates.until : now + FAULT_LOOK_MS,
    route?.is === "not-made" || refusedName ? now + FAULT_LOOK_MS : undefined,
    ...waiting.map(endOf),
  ].flatMap((at) => at ?? []);
  return {
    status,
    requeueAfter: Math.max(100, Math.min(...looks) - now),
    // Without an authority all stays as it is: a gateway that runs has what it needs.
    ...("children" in certificates && {
      children: [
        ...certificates.children,
        configFor(pool),
        ...gatewayChildren(pool, pool.spec.gatewayImage ?? dependencies.gatewayImage),
        ...networkPolicies(pool, dependencies.operatorNamespace),
        ...apiAccess(pool, dependencies.operatorNamespace),
        ...volumes.map((volume) =>
          claimFor(
            pool,
            volume,
            claims.find(({ metadata }) => metadata.name === volume.volume),
          ),
        ),
      ],
    }),
  };
}

/**
 * Lets all workers go, each after its builds. The gateway stays until the pool is gone: builds go
 * through it.
 */
async function drain(pool: Pool, requests: readonly WaitingRequest[], context: Context) {
  const { client, key, ownedAll } = context;
  for (const request of requests) await context.delete(BuildKitRequest, request);
  const workers = ownedAll(BuildKitWorker);
  for (const worker of workers)
    if (worker.metadata.deletionTimestamp === undefined) await context.delete(BuildKitWorker, worker);
  if (workers.length > 0) {
    const counts = phaseCounts(workers);
    const { workers: before } = pool.status ?? {};
    return {
      status: {
        ...pool.status,
        phase: "Draining" as const,
        ...(before && {
          workers: { ...before, total: workers.length, terminating: counts.Terminating, idle: 0 },
        }),
        conditions: (pool.status?.conditions ?? []).map(({ type, status, reason, message }) =>
          type === "Ready"
            ? {
                type,
                status: "False" as const,
                reason: "Draining",
                message: `${workers.length} workers are still there`,
              }
            : { type, status, reason, message },
        ),
      },
      requeueAfter: DRAIN_LOOK_MS,
    };
  }
  if (pool.spec.gateway.gatewayAPI.enabled) await deleteRoute(client, pool);
  forgetPool(context.metrics, key);
  return undefined;
}

/**
 * The requests that wait, in the order in which they came. Those that are no longer renewed are
 * deleted. One whose job has a worker is about to be deleted by the client that claimed it: no
 * other worker must be made for it.
 */
async function stillWaiting(
  requests: readonly WaitingRequest[],
  workers: readonly Worker[],
  context: Context,
  isOver: (request: WaitingRequest) => boolean,
): Promise<readonly WaitingRequest[]> {
  const all = requests.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await Promise.all(all.filter(isOver).map((request) => deleteUnchanged(BuildKitRequest, request, context)));
  const jobOf = (one: { readonly requestedBy: string; readonly jobId: string }) =>
    JSON.stringify([one.requestedBy, one.jobId]);
  const served = new Set(workers.flatMap(({ spec }) => (spec.allocation ? [jobOf(spec.allocation)] : [])));
  return all
    .filter((request) => !isOver(request) && !served.has(jobOf(request.spec)))
    .toSorted(
      (a, b) =>
        b.spec.priority - a.spec.priority || Date.parse(a.spec.requestedAt) - Date.parse(b.spec.requestedAt),
    );
}

/** Slots in which no worker can be made, because an object of others has its name. */
function blockedSlots(pool: Pool, workers: readonly Worker[], { cache, key }: Context): ReadonlySet<number> {
  const own = new Set(workers.map(({ metadata }) => metadata.name));
  const { max } = pool.spec.scaling;
  const blocked = new Set<number>();
  // Each that is blocked is made up for by one more.
  for (let slot = 0; slot < max + blocked.size; slot++) {
    const name = workerName(key.name, slot);
    if (!own.has(name) && cache.get(BuildKitWorker, { namespace: key.namespace, name })) blocked.add(slot);
  }
  return blocked;
}

function failuresBefore({ status }: Pool) {
  const { count = 0, lastAt } = status?.failures ?? {};
  return { count, lastAt: lastAt === undefined ? 0 : Date.parse(lastAt) };
}

async function makeWorkers({ create }: ScalingPlan, pool: Pool, { client, key }: Context): Promise<void> {
  await Promise.all(
    create.map(async ({ slot, affinityKey }) => {
      const metadata = {
        namespace: key.namespace,
        name: workerName(key.name, slot),
        labels: { ...managedByLabel, [poolLabel]: key.name, [workerLabel]: "true" },
        ownerReferences: [controllerReference(BuildKitPool, pool)],
      };
      try {
        const madeFor = affinityKey === undefined ? {} : { affinityKey };
        await client.create(BuildKitWorker, {
          metadata,
          spec: { poolRef: { name: key.name }, slot, ...madeFor },
        });
      } catch (error) {
        // The watch has not brought it yet.
        if (!isAlreadyExists(error)) throw error;
      }
    }),
  );
}

async function removeWorkers(
  { remove }: ScalingPlan,
  workers: readonly Worker[],
  context: Context,
): Promise<void> {
  const byName = new Map(workers.map((worker) => [worker.metadata.name, worker]));
  await Promise.all(
    remove.map(async ({ name, why }) => {
      const worker = byName.get(name);
      if (worker && (await deleteUnchanged(BuildKitWorker, worker, context)))
        context.events.normal("WorkerRemoved", `worker ${name} goes: ${why}`);
    }),
  );
}

/**
 * Deletes an object unless it was written since it was read: a client may have claimed it, or
 * renewed it.
 */
async function deleteUnchanged(
  kind: typeof BuildKitWorker | typeof BuildKitRequest,
  { metadata }: Worker | WaitingRequest,
  { client }: Context,
): Promise<boolean> {
  try {
    await client.delete(kind, metadata, { preconditions: metadata });
    return true;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}

/** The certificates, or why none can be made. */
async function certificatesOf(
  pool: Pool,
  service: ObjectOf<typeof Service> | undefined,
  { client, clock }: Context,
  { credentials, apiNames }: PoolDependencies,
): Promise<PoolCertificates | Fault> {
  const hosts = outerHosts(pool, service);
  try {
    return await poolCertificates(pool, { client, credentials, clock, hosts, apiNames });
  } catch (error) {
    if (!(error instanceof ReconcileError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}

/**
 * Whether there may be a route that is no longer wanted is known by its condition, which stays
 * until nothing is left.
 */
async function routeOf(pool: Pool, { client }: Context): Promise<RouteOutcome | undefined> {
  const { enabled, gatewayAPI } = pool.spec.gateway;
  if (enabled && gatewayAPI.enabled) return await makeRoute(client, pool);
  const wasWanted = pool.status?.conditions?.some(({ type }) => type === "RouteReady");
  return wasWanted ? await deleteRoute(client, pool) : undefined;
}

function configFor(pool: Pool) {
  const { name } = pool.metadata;
  const labels = { ...managedByLabel, [poolLabel]: name };
  return child(ConfigMap, {
    metadata: { name: poolNames(name).config, labels },
    data: { "buildkitd.toml": workerToml(pool) },
  });
}

function report(
  pool: Pool,
  workers: readonly Worker[],
  waiting: readonly WaitingRequest[],
  certificates: PoolCertificates | Fault,
  { metrics, key, clock }: Context,
): void {
  const oldest = Math.min(clock.now(), ...waiting.map(({ spec }) => Date.parse(spec.requestedAt)));
  reportPool(metrics, key, {
    phases: phaseCounts(workers),
    waiting: waiting.length,
    oldestWaitSeconds: (clock.now() - oldest) / 1_000,
    max: pool.spec.scaling.max,
    certificateEnd: ("children" in certificates ? (certificates.server?.notAfter ?? 0) : 0) / 1_000,
  });
}
