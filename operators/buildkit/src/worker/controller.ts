import { type Duration, milliseconds } from "@windlass/clock";
import {
  type ContextOf,
  child,
  controller,
  controllerOf,
  declaration,
  type EventInput,
  ignoreNotFound,
  isConflict,
  metadataOnly,
  type ObjectOf,
  ReconcileError,
} from "@windlass/runtime";
import { Pod, Secret } from "@windlass/runtime/kinds";
import { trustBundle, workerCertificate } from "../certificates/index.ts";
import { type CredentialStore, managedByLabel } from "../credentials.ts";
import { cacheVolumeName, poolLabel, workerTlsSecretName } from "../names.ts";
import { persistentOf } from "../pool/cache-slots.ts";
import { BuildKitPool, type Pool } from "../pool/pool.ts";
import { spanMs } from "../span.ts";
import { hasUnseenUse, released, untracked } from "./claim.ts";
import { workerCertificateMs } from "./lifetime.ts";
import { mustAsk, type WorkerAction, type WorkerRules, type WorkerState, workerStep } from "./machine.ts";
import { type WorkerMetrics, workerMetrics } from "./metrics.ts";
import { configHashAnnotation, FORCED_GRACE_SECONDS, keepAnnotations, podFor } from "./pod.ts";
import { seenPod } from "./pod-observation.ts";
import type { BuildProbe } from "./probe.ts";
import { stateOf, statusOf } from "./status.ts";
import { BuildKitWorker, type Worker } from "./worker.ts";
import { writeStatus } from "./write-status.ts";

/** What the workers' controller stands on. */
export interface WorkerDependencies {
  readonly credentials: CredentialStore;
  readonly probe: BuildProbe;
  /** How often a worker that a client has is asked about its builds. @default "5s" */
  readonly askEvery?: Duration;
}

/** How long a worker without a claim may be silent before it is given up. */
const SILENCE_MS = 5 * 60_000;
/** A worker that is to go is asked at least so often. */
const LONGEST_ASK_DRAINING_MS = 2_000;
/**
 * How long a claim may be there before it is written down: one that is gone by then costs nothing
 * but the look when it was released. Gateways and the allocation API read the claim itself.
 */
const UNTOLD_MS = 1_000;
/**
 * How long at most a worker has to be idle before autoscalers may take its node: one that is
 * claimed again at once is not written twice.
 */
const LONGEST_KEPT_MS = 10_000;
/** Why what a worker consists of cannot be made: objects of others have those names. */
const takenReasons: readonly string[] = ["ChildAlreadyExists", "ChildOwnedByOther"];
/** The reason of a worker that its pool did not make. */
const FOREIGN = "NotOfPool";
/** How often an idle worker is asked whether it still answers. */
const ASK_IDLE_MS = 60_000;
/** How soon a worker is looked at again that waits for an event alone. */
const FALLBACK_MS = 60_000;

const declared = declaration(BuildKitWorker, {
  owns: [Pod, { kind: Secret, metadataOnly: true }],
  reads: [BuildKitPool],
});
type Context = ContextOf<typeof declared>;

/**
 * Takes each worker through its life: makes its pod, says what it does, and lets it go once its
 * builds have ended.
 */
export function workerController(dependencies: WorkerDependencies) {
  const asked = new IdleAsks();
  return controller(BuildKitWorker, {
    ...declared,
    name: "buildkitworker",
    permissions: [{ kind: BuildKitWorker, verbs: ["update"] }],
    concurrency: 16,
    reconcile: (worker, context) => advance(worker, context, dependencies, asked),
    async finalize(worker, context) {
      const result = await advance(worker, context, dependencies, asked);
      if (!result) asked.forget(context.key);
      return result && { ...result, requeueAfter: result.requeueAfter ?? FALLBACK_MS };
    },
  });
}

/** When each worker was asked last whether it answers. Losing it costs a question. */
class IdleAsks {
  readonly #dueAt = new Map<string, number>();

  /** When an idle worker is to be asked again, by the monotonic clock. */
  dueAt({ namespace, name }: Context["key"]): number {
    return this.#dueAt.get(`${namespace}/${name}`) ?? 0;
  }

  asked({ namespace, name }: Context["key"], now: number): void {
    this.#dueAt.set(`${namespace}/${name}`, now + ASK_IDLE_MS);
  }

  forget({ namespace, name }: Context["key"]): void {
    this.#dueAt.delete(`${namespace}/${name}`);
  }
}

/** Does what the machine says. Undefined: nothing of the worker is left. */
async function advance(worker: Worker, context: Context, dependencies: WorkerDependencies, asked: IdleAsks) {
  const { cache, clock, key, owned } = context;
  const isDeleted = worker.metadata.deletionTimestamp !== undefined;
  const poolKey = { namespace: key.namespace, name: worker.spec.poolRef.name };
  // A pool that is younger than its worker's event may not be cached yet: nothing is deleted for
  // that.
  const pool =
    cache.get(BuildKitPool, poolKey) ??
    (isDeleted ? undefined : await ignoreNotFound(context.live.get(BuildKitPool, poolKey)));
  if (!pool && !isDeleted) {
    await context.delete(BuildKitWorker, worker);
    return { requeueAfter: FALLBACK_MS };
  }
  if (pool && !isDeleted && isForeign(worker, pool)) {
    const now = clock.now();
    await writeStatus(context.client, worker, foreignStatus(worker, now), now);
    return {};
  }
  const podObject = owned(Pod, worker.metadata.name);
  const pod = seenPod(podObject);
  const { allocation } = worker.spec;
  const untoldMs = pod.is === "ready" && !isDeleted ? untoldFor(worker, clock.now()) : 0;
  if (untoldMs > 0) return { requeueAfter: untoldMs };
  const claim = allocation && {
    expiresAt: Date.parse(allocation.expiresAt),
    activeAt: Math.max(
      Date.parse(allocation.allocatedAt),
      Date.parse(worker.status?.lastActivityAt ?? allocation.allocatedAt),
    ),
  };
  const before = stateOf(worker);
  const seen = { isDeleted, claim, pod };
  const ip = "ip" in pod ? pod.ip : undefined;
  const isDue = clock.monotonic() >= asked.dueAt(key);
  const { client, signal } = context;
  const asking = pool && ip !== undefined ? { pool, worker: key, ip, client, signal } : undefined;
  const builds =
    asking && mustAsk(before, seen, isDue)
      ? await dependencies.probe.builds(asking)
      : ({ is: "unasked" } as const);
  if (builds.is !== "unasked") asked.asked(key, clock.monotonic());
  const now = clock.now();
  const next = workerStep(before, { ...seen, now, builds }, rulesOf(pool, dependencies));
  const { action } = next;
  const metrics = workerMetrics(context.metrics, {
    namespace: key.namespace,
    name: worker.spec.poolRef.name,
  });
  let { state } = next;
  let made = podObject;
  if (pool && action.do === "make-pod")
    try {
      made = await makePod(worker, pool, context, dependencies);
    } catch (error) {
      if (!(error instanceof ReconcileError && takenReasons.includes(error.reason))) throw error;
      // Another object has that name, so the pool tries another slot. What an earlier
      // worker of this name has left behind is about to go.
      state = (await isTaken(worker, context))
        ? { at: "failed", since: now, reason: "NameTaken", message: error.message }
        : before;
    }
  if (action.do === "prune") {
    const isEmpty = asking !== undefined && (await dependencies.probe.prune(asking));
    if (isEmpty) state = action.next;
    else await deleteWorker(worker, "its cache could not be emptied", context);
  }
  const keptUntil = state.at === "idle" ? state.since + keptMsOf(pool) : now;
  const looksAt = podObject && (await keepWhileUsed(podObject, state, keptUntil, context));
  if (action.do === "delete-pod" && podObject)
    await context.delete(Pod, podObject, action.isForced ? { gracePeriodSeconds: FORCED_GRACE_SECONDS } : {});
  if (action.do === "finish") return undefined;
  if (action.do === "delete-worker") await deleteWorker(worker, action.why, context);
  if (action.do === "release") await releaseWorker(worker, action.why, context);
  const volume = volumeOf(worker, pool);
  const status = statusOf(worker, {
    now,
    state,
    pod: seenPod(made),
    podName: made?.metadata.name,
    configHash: made?.metadata.annotations?.[configHashAnnotation],
    volume,
    volumeAffinity: pool?.status?.cacheSlots?.find((one) => one.volume === volume)?.affinityKey,
  });
  await writeStatus(context.client, worker, status, now);
  count(worker, status, metrics, now);
  const asksAt = state.at === "idle" ? now + asked.dueAt(key) - clock.monotonic() : undefined;
  return {
    events: eventsFor(worker, status),
    ...requeue(action, [looksAt, asksAt], now),
  };
}

/** Whether a worker was not made by its pool. One that we have begun to look after stays ours. */
function isForeign(worker: Worker, pool: Pool): boolean {
  if (controllerOf(worker)?.uid === pool.metadata.uid) return false;
  return worker.status?.phase === undefined || worker.status.reason === FOREIGN;
}

/** Says why a worker that its pool did not make is ignored. */
function foreignStatus(worker: Worker, now: number): Status {
  const message =
    "its pool did not make it: pools make their workers by themselves, as many as their scaling says";
  const since = worker.status?.phaseSince === undefined ? now : Date.parse(worker.status.phaseSince);
  const state = { at: "failed", since, reason: FOREIGN, message } as const;
  const nothing = { podName: undefined, configHash: undefined, volume: undefined, volumeAffinity: undefined };
  return statusOf(worker, { now, state, pod: { is: "absent" }, ...nothing });
}

/**
 * How much longer a new claim on an idle worker is left alone. By the clock of who made it, which
 * may differ from this one.
 */
function untoldFor(worker: Worker, now: number): number {
  const { allocation } = worker.spec;
  if (!allocation || worker.status?.phase !== "Idle" || !hasUnseenUse(worker)) return 0;
  const ageMs = now - Date.parse(allocation.allocatedAt);
  return ageMs >= 0 ? UNTOLD_MS - ageMs : 0;
}

function rulesOf(pool: Pool | undefined, { askEvery = "5s" }: WorkerDependencies): WorkerRules {
  const askMs = milliseconds(askEvery, "workers: askEvery");
  // Without its pool there are no settings, and a worker only has to go.
  const { provisionTimeout = "10m", drainTimeout = "1h", reuse = "never" } = pool?.spec.scaling ?? {};
  const unusedMs = spanMs(pool?.spec.gateway.idleTimeout ?? "0s", "spec.gateway.idleTimeout");
  return {
    provisionMs: spanMs(provisionTimeout, "spec.scaling.provisionTimeout"),
    drainMs: spanMs(drainTimeout, "spec.scaling.drainTimeout"),
    silenceMs: SILENCE_MS,
    isReused: reuse !== "never",
    isPruned: pool?.spec.scaling.pruneOnRelease ?? false,
    unusedMs: unusedMs === 0 ? Number.POSITIVE_INFINITY : unusedMs,
    askMs,
    askDrainingMs: Math.min(askMs, LONGEST_ASK_DRAINING_MS),
  };
}

function keptMsOf(pool: Pool | undefined): number {
  const delayMs = spanMs(pool?.spec.scaling.scaleDownDelay ?? "0s", "spec.scaling.scaleDownDelay");
  return Math.min(LONGEST_KEPT_MS, delayMs / 2);
}

/**
 * The pod, after the Secret that it mounts. The certificate is the worker's own, and dies with it.
 */
async function makePod(worker: Worker, pool: Pool, context: Context, { credentials }: WorkerDependencies) {
  const { client, key } = context;
  const ring = await credentials.workerAuthorities(client, pool);
  const name = workerTlsSecretName(key.name);
  if (!context.owned(metadataOnly(Secret), name)) {
    const pair = workerCertificate(credentials.signer(ring, "workers"), {
      worker: key,
      pool: pool.metadata,
      validFor: workerCertificateMs(pool),
    });
    const labels = { ...managedByLabel, [poolLabel]: pool.metadata.name };
    const stringData = { "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": trustBundle(ring) };
    await context.apply(child(Secret, { metadata: { name, labels }, stringData }, { update: "never" }));
  }
  return await context.apply(podFor(pool, { name: key.name, slot: worker.spec.slot }));
}

/** Whether an object by the name of one of the worker's is neither its own nor about to go. */
async function isTaken({ metadata: { uid } }: Worker, { client, key }: Context): Promise<boolean> {
  const inTheWay = await Promise.all([
    ignoreNotFound(client.get(metadataOnly(Pod), key)),
    ignoreNotFound(client.get(metadataOnly(Secret), { ...key, name: workerTlsSecretName(key.name) })),
  ]);
  return inTheWay.some((object) => {
    if (!object || object.metadata.deletionTimestamp !== undefined) return false;
    const owner = controllerOf(object);
    const isOfThisName = owner?.kind === BuildKitWorker.kind && owner.name === key.name;
    return !isOfThisName && owner?.uid !== uid;
  });
}

/**
 * Autoscalers of nodes leave a worker alone while a client has it, and until it was idle for a
 * while: until then, if that is yet to come.
 */
async function keepWhileUsed(
  pod: ObjectOf<typeof Pod>,
  state: WorkerState,
  keptUntil: number,
  { client, clock }: Context,
): Promise<number | undefined> {
  const isUsed =
    state.at === "allocated" || state.at === "running" || (state.at === "terminating" && state.builds > 0);
  const names = Object.keys(keepAnnotations);
  const hasAll = names.every((name) => pod.metadata.annotations?.[name] !== undefined);
  if (isUsed === hasAll || pod.metadata.deletionTimestamp !== undefined) return undefined;
  if (!isUsed && clock.now() < keptUntil) return keptUntil;
  const annotations = isUsed ? keepAnnotations : Object.fromEntries(names.map((name) => [name, null]));
  await client.patch(Pod, pod.metadata, { type: "merge", patch: { metadata: { annotations } } });
  return undefined;
}

/**
 * Asks for the worker's deletion, unless it was written since it was read: a client may have
 * claimed or renewed it.
 */
async function deleteWorker(
  { metadata }: Worker,
  why: string,
  { client, events, key }: Context,
): Promise<void> {
  try {
    await client.delete(BuildKitWorker, key, { preconditions: metadata });
    events.normal("Terminating", `the worker goes: ${why}`);
  } catch (error) {
    // The write that came between asks for the next look.
    if (!isConflict(error)) throw error;
  }
}

/** Takes the claim off, unless the worker was written since it was read. */
async function releaseWorker(worker: Worker, why: string, { client, events }: Context): Promise<void> {
  try {
    await client.update(BuildKitWorker, untracked(released(worker)));
    events.normal("Released", `the allocation was ended: ${why}`);
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

function volumeOf({ spec }: Worker, pool: Pool | undefined): string | undefined {
  const persistent = pool && persistentOf(pool.spec);
  return persistent && spec.slot < persistent.maxVolumes
    ? cacheVolumeName(pool.metadata.name, spec.slot)
    : undefined;
}

type Status = ReturnType<typeof statusOf>;

/**
 * What happens to a worker. That it is given out and given back is not worth an event each time:
 * its status says so.
 */
function eventsFor(worker: Worker, { phase, reason, message = "" }: Status): EventInput[] {
  if (phase === undefined || phase === worker.status?.phase) return [];
  if (phase === "Allocated" || (phase === "Idle" && worker.status?.readyAt !== undefined)) return [];
  const isFailure = phase === "Failed";
  return [{ type: isFailure ? "Warning" : "Normal", reason: isFailure ? (reason ?? phase) : phase, message }];
}

function count(
  { status: before, metadata }: Worker,
  status: Status,
  metrics: WorkerMetrics,
  now: number,
): void {
  if ((status.allocationCount ?? 0) > (before?.allocationCount ?? 0)) metrics.allocated();
  if (
    status.readyAt !== undefined &&
    before?.readyAt === undefined &&
    metadata.creationTimestamp !== undefined
  )
    metrics.started((now - Date.parse(metadata.creationTimestamp)) / 1_000);
  if (status.phase === "Failed" && before?.phase !== "Failed") metrics.failed(status.reason ?? "Unknown");
}

function requeue(
  action: WorkerAction,
  others: readonly (number | undefined)[],
  now: number,
): { readonly requeueAfter?: number } {
  if (action.do !== "wait") return { requeueAfter: 500 };
  const looks = [action.until, ...others].flatMap((at) => at ?? []);
  return looks.length === 0 ? {} : { requeueAfter: Math.max(0, Math.min(...looks) - now) };
}
