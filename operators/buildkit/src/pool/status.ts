import {
  condition,
  formatSelector,
  type ObjectOf,
  type StatusFor,
  timestamp,
  type WantedCondition,
} from "@windlass/runtime";
import type { Deployment, Service } from "@windlass/runtime/kinds";
import { poolNames } from "../names.ts";
import type { WaitingRequest } from "../request/request.ts";
import { workerPodLabels } from "../worker/pod.ts";
import { type Worker, type WorkerPhase, workerPhases } from "../worker/worker.ts";
import { cacheOptions } from "./cache-options.ts";
import type { CacheVolume } from "./cache-volumes.ts";
import type { Fault, PoolCertificates } from "./certificates.ts";
import { externalEndpoint, internalEndpoint } from "./endpoints.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { outerNames } from "./outer-names.ts";
import type { BuildKitPool, Pool } from "./pool.ts";
import type { RouteOutcome } from "./route.ts";
import type { Failures, ScalingPlan } from "./scaling.ts";

/** What is seen of a pool, for its status. */
export interface PoolObserved {
  readonly now: number;
  readonly gateway: ObjectOf<typeof Deployment> | undefined;
  readonly service: ObjectOf<typeof Service> | undefined;
  readonly workers: readonly Worker[];
  readonly waiting: readonly WaitingRequest[];
  readonly plan: ScalingPlan;
  readonly failures: Failures;
  readonly configHash: string;
  readonly volumes: readonly CacheVolume[];
  /** What was made, or why not. */
  readonly certificates: PoolCertificates | Fault;
  /** Why the pool has not all the names that it asks for; undefined if it has. */
  readonly refusedName: Fault | undefined;
  /** Undefined if none is wanted. */
  readonly route: RouteOutcome | undefined;
}

/** How many workers are in each phase. */
export function phaseCounts(workers: readonly Worker[]): Readonly<Record<WorkerPhase, number>> {
  const counts = Object.fromEntries(workerPhases.map((phase) => [phase, 0])) as Record<WorkerPhase, number>;
  for (const worker of workers) counts[phaseOf(worker)]++;
  return counts;
}

/**
 * The phase of a worker. One whose deletion was asked for is on its way, whatever its controller
 * last said.
 */
export function phaseOf({ metadata, status }: Worker): WorkerPhase {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "Pending") : "Terminating";
}

/** The status of a pool. */
export function poolStatusOf(pool: Pool, seen: PoolObserved): StatusFor<typeof BuildKitPool> {
  const { metadata, spec, status: before } = pool;
  const names = poolNames(metadata.name);
  const counts = phaseCounts(seen.workers);
  const used = counts.Allocated + counts.Running;
  const gateway = gatewayOf(seen);
  const external = externalEndpoint(pool, seen.service);
  const { certificates, plan, failures, waiting, volumes } = seen;
  const server = "children" in certificates ? certificates.server : undefined;
  const isScaled = plan.create.length > 0 || plan.remove.length > 0;
  const activity = lastOf([
    ...seen.workers.map(({ status }) => status?.lastActivityAt),
    before?.lastActivityTime,
  ]);
  const oldest = firstOf(waiting.map((request) => request.spec.requestedAt));
  const lastScaleTime = isScaled ? timestamp(seen.now) : before?.lastScaleTime;
  const options = cacheOptions(spec);
  const hostnames = outerNames(pool);
  const conditions = conditionsOf(pool, seen, gateway);
  return {
    phase: phaseOfPool(pool, seen, gateway.ready),
    ...(spec.gateway.enabled && {
      endpoint: internalEndpoint(pool),
      gateway: { ...gateway, deploymentName: names.gateway, serviceName: names.service },
    }),
    ...(spec.gateway.enabled && external !== undefined && { externalEndpoint: external }),
    ...(hostnames.length > 0 && { hostnames: [...hostnames] }),
    workers: {
      total: seen.workers.length,
      ready: counts.Idle + used,
      idle: counts.Idle,
      allocated: used,
      running: counts.Running,
      provisioning: counts.Pending + counts.Provisioning,
      terminating: counts.Terminating,
      failed: counts.Failed,
      desired: plan.desired,
      needed: plan.needed,
    },
    selector: formatSelector({ matchLabels: workerPodLabels(metadata.name) }),
    queue: { length: waiting.length, ...(oldest !== undefined && { oldest }) },
    connections: { active: used, ...(activity !== undefined && { lastConnectionTime: activity }) },
    ...(volumes.length > 0 && { cacheSlots: [...volumes] }),
    ...(options.import.length > 0 && { cacheOptions: options }),
    ...(server && {
      serverCert: {
        notBefore: timestamp(server.notBefore),
        notAfter: timestamp(server.notAfter),
        renewalTime: timestamp(server.renewAt),
      },
    }),
    tlsSecretName: names.tlsSecret,
    clientCertsSecretName: names.clientCertsSecret,
    tokenKeysSecretName: names.tokenKeysSecret,
    ...(failures.count > 0 && { failures: { count: failures.count, lastAt: timestamp(failures.lastAt) } }),
    configHash: seen.configHash,
    ...(activity !== undefined && { lastActivityTime: activity }),
    ...(lastScaleTime !== undefined && { lastScaleTime }),
    conditions,
  };
}

function faultOf(certificates: PoolObserved["certificates"]): Fault | undefined {
  return "children" in certificates ? certificates.fault : certificates;
}

interface GatewaySeen {
  readonly ready: boolean;
  readonly replicas: number;
  readonly readyReplicas: number;
}

function gatewayOf({ gateway }: PoolObserved): GatewaySeen {
  const { replicas = 0, readyReplicas = 0 } = gateway?.status ?? {};
  return { ready: readyReplicas > 0, replicas, readyReplicas };
}

function phaseOfPool({ metadata, spec }: Pool, seen: PoolObserved, isReachable: boolean) {
  if (metadata.deletionTimestamp !== undefined) return "Draining";
  const { workers, failures, certificates } = seen;
  if (faultOf(certificates)) return "Failed";
  if (spec.gateway.enabled && !isReachable) return "Pending";
  const isUp = workers.some((worker) => ["Idle", "Allocated", "Running"].includes(phaseOf(worker)));
  if (failures.count > 0 && !isUp) return "Failed";
  return workers.length === 0 ? "ScaledToZero" : "Running";
}

function conditionsOf(pool: Pool, seen: PoolObserved, gateway: GatewaySeen): WantedCondition[] {
  const { certificates, route } = seen;
  const made = gatewayCondition(pool, gateway);
  const fault = faultOf(certificates) ?? seen.refusedName;
  const certified = fault
    ? condition("CertificatesReady", false, fault.reason, fault.message)
    : condition("CertificatesReady", true, "CertificatesIssued");
  const routed =
    route &&
    (route.is === "made"
      ? condition("RouteReady", true, "RouteMade")
      : condition("RouteReady", false, route.reason, route.message));
  const failing = [certified, made, routed].find((one) => one?.status === "False");
  const ignored = ignoredFields(pool.spec);
  return [
    failing
      ? condition("Ready", false, failing.reason, failing.message)
      : condition("Ready", true, "PoolReady", "clients can connect"),
    made,
    certified,
    capacityCondition(seen),
    ...(routed ? [routed] : []),
    ...(ignored.length > 0
      ? [condition("FieldsIgnored", true, "NoEffect", `these fields have no effect: ${ignored.join(", ")}`)]
      : []),
  ];
}

function gatewayCondition({ spec }: Pool, { ready, readyReplicas }: GatewaySeen): WantedCondition {
  if (!spec.gateway.enabled)
    return condition(
      "GatewayReady",
      false,
      "GatewayDisabled",
      "spec.gateway.enabled is false: the workers cannot be reached",
    );
  const message = `${readyReplicas} of ${spec.gateway.replicas} replicas are ready`;
  return condition("GatewayReady", ready, ready ? "GatewayReady" : "GatewayNotReady", message);
}

/** Whether a request would be served in time, and what stands in the way. */
function capacityCondition({ workers, waiting, plan, failures }: PoolObserved): WantedCondition {
  const stuck = workers.find(
    ({ status }) => status?.phase === "Provisioning" && status.reason === "Unschedulable",
  );
  const failed = workers
    .filter(({ status }) => status?.phase === "Failed")
    .toSorted((a, b) => ((a.status?.phaseSince ?? "") < (b.status?.phaseSince ?? "") ? 1 : -1))[0];
  const is = (reason: string, message: string) => condition("CapacityAvailable", false, reason, message);
  if (failures.count > 0)
    return is(
      failed?.status?.reason ?? "WorkersFail",
      `${failures.count} workers in a row have failed${failed ? `: ${failed.metadata.name}: ${failed.status?.message}` : ""}`,
    );
  if (stuck) return is("Unschedulable", `${stuck.metadata.name}: ${stuck.status?.message}`);
  if (plan.isExhausted)
    return is("AtMaximum", `${waiting.length} requests wait, and the pool may have no more workers`);
  return condition("CapacityAvailable", true, "CapacityAvailable");
}

function lastOf(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce(
    (last, time) => (time !== undefined && (last === undefined || time > last) ? time : last),
    undefined,
  );
}

function firstOf(times: readonly string[]): string | undefined {
  return times.toSorted()[0];
}
