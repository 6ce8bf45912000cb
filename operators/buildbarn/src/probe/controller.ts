import { type Clock, milliseconds } from "@windlass/clock";
import {
  type CacheReader,
  condition,
  controller,
  type ReconcileContext,
  timestamp,
  type WantedCondition,
} from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { ports, sorted } from "../configuration/index.ts";
import { group } from "../fields.ts";
import { BuildbarnFrontend, type Frontend } from "../frontend/frontend.ts";
import {
  type BuildbarnSet,
  type ComponentKind,
  connectionTo,
  hasInternalWay,
  internalName,
  type OperatorCertificate,
  platformOf,
  SetFault,
  setOf,
  watchSet,
  withAuthorities,
  withoutCertificate,
} from "../set/index.ts";
import type { Worker } from "../worker/worker.ts";
import { forgetProbe, reportProbe } from "./metrics.ts";
import { type SmokeAction, type SmokeResult, smoke } from "./smoke.ts";

/** On a frontend: asks for a probe now. Another value asks for another one. */
export const probeNowAnnotation = `${group}/probe-now`;

/** What probes stand on. */
export interface ProbeDependencies {
  /** `host:port` of a frontend. @default that of its Service */
  readonly frontendAddress?: (frontend: Frontend) => string | Promise<string>;
  /**
   * What the operator shows to sets that use TLS among themselves.
   *
   * @default what is mounted in its pod
   */
  readonly certificate?: OperatorCertificate;
  /** Runs the action. @default a real one */
  readonly probe?: (action: SmokeAction, clock: Clock, signal: AbortSignal) => Promise<SmokeResult>;
}

type LastProbe = NonNullable<NonNullable<Frontend["status"]>["lastProbe"]>;

/**
 * Tries frontends with a real action. It writes no more than `lastProbe` and one condition: the
 * rest of a frontend is another controller's.
 */
export function probeController(dependencies: ProbeDependencies = {}) {
  return controller(BuildbarnFrontend, {
    name: "buildbarnprobe",
    fieldManager: "buildbarn-operator-probe",
    watches: watchSet(BuildbarnFrontend),
    follows: [ConfigMap],
    // Each waits for an answer for most of its time.
    concurrency: 8,
    reconcile: (frontend, context) => reconcile(frontend, context, dependencies),
  });
}

async function reconcile(
  frontend: Frontend,
  context: Pick<ReconcileContext, "clock" | "signal" | "events" | "metrics" | "key" | "follow"> & {
    readonly cache: CacheReader<ComponentKind>;
  },
  dependencies: ProbeDependencies,
) {
  const { clock, events } = context;
  const { probe } = frontend.spec;
  const request = frontend.metadata.annotations?.[probeNowAnnotation];
  const last = frontend.status?.lastProbe;
  const isAsked = request !== undefined && request !== last?.request;
  // The result of an annotation's probe does not describe the present.
  if (!probe) forgetProbe(context.metrics, frontend.metadata);
  if (!probe && !isAsked) return { status: last ? { lastProbe: last, conditions: [conditionOf(last)] } : {} };
  const intervalMs = probe ? milliseconds(probe.interval, "spec.probe.interval") : Number.POSITIVE_INFINITY;
  const due = last ? Date.parse(last.time) + intervalMs : 0;
  if (!isAsked && clock.now() < due) return { ...told(last), requeueAfter: due - clock.now() };
  const set = await withAuthorities(setOf(context.cache, frontend), context);
  const worker = set.workers.find(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && (status?.readyReplicas ?? 0) > 0,
  );
  if (!worker || frontend.status?.state !== "Ready")
    // Whatever makes it possible asks for another look.
    return { status: { ...told(last).status, conditions: [waiting(worker)] } };
  const result = await tried(frontend, worker, set, context, dependencies);
  const lastProbe: LastProbe = {
    time: timestamp(clock.now()),
    ...result,
    latencyMs: Math.round(result.latencyMs),
    worker: worker.metadata.name,
    ...(request !== undefined && { request }),
  };
  if (probe) reportProbe(context.metrics, frontend.metadata, result);
  if (last?.ok !== false && !result.ok) events.warning("ProbeFailed", result.message);
  return { ...told(lastProbe), ...(probe && { requeueAfter: intervalMs }) };
}

async function tried(
  frontend: Frontend,
  worker: Worker,
  set: BuildbarnSet,
  { clock, signal }: Pick<ReconcileContext, "clock" | "signal">,
  { frontendAddress, certificate, probe = smoke }: ProbeDependencies,
): Promise<SmokeResult> {
  const { uid = "" } = frontend.metadata;
  const timeoutMs = milliseconds(frontend.spec.probe?.timeout ?? "1m", "spec.probe.timeout");
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const began = clock.now();
  try {
    const connection = await connectionTo(set, certificate);
    const result = await probe(
      {
        address: (await frontendAddress?.(frontend)) ?? addressOf(set, frontend),
        connection,
        instanceName: worker.spec.instanceNamePrefix,
        platform: sorted(platformOf(worker)),
        nonce: `probe-${uid}-${began}`,
        timeoutSeconds: Math.max(1, Math.ceil(timeoutMs / 1_000)),
      },
      clock,
      within,
    );
    return result.ok ? result : { ...result, message: withoutCertificate(result.message, connection) };
  } catch (error) {
    signal.throwIfAborted();
    const failed = { ok: false, latencyMs: clock.now() - began, cacheHit: false };
    if (error instanceof SetFault) return { ...failed, message: error.message };
    if (!within.aborted) throw error;
    return { ...failed, message: `not done within ${timeoutMs / 1_000} s` };
  }
}

/** The operator needs no token where the scheduler needs none. */
function addressOf(set: BuildbarnSet, frontend: Frontend): string {
  const { name, namespace } = frontend.metadata;
  return hasInternalWay(set, frontend)
    ? `${internalName(name)}.${namespace}.svc:${ports.frontendInternal}`
    : `${name}.${namespace}.svc:${ports.frontend}`;
}

function told(last: LastProbe | undefined) {
  return { status: last ? { lastProbe: last, conditions: [conditionOf(last)] } : {} };
}

function conditionOf({ ok, message, worker }: LastProbe): WantedCondition {
  return condition(
    "ProbeSucceeded",
    ok,
    ok ? "ActionRan" : "ActionFailed",
    `an action for ${worker}: ${message}`,
  );
}

function waiting(worker: Worker | undefined): WantedCondition {
  const why = worker ? "the frontend is not ready" : "no worker is ready";
  return condition("ProbeSucceeded", "Unknown", "NotTried", why);
}
