import { milliseconds } from "@windlass/clock";
import { condition, controller, timestamp, type WantedCondition } from "@windlass/runtime";
import { ConfigMap, Pod } from "@windlass/runtime/kinds";
import {
  budgetFor,
  type ComponentContext,
  deploymentKinds,
  deploymentOf,
  metricsServiceFor,
  networkPolicyFor,
  podConfiguration,
  type StopDependencies,
  seenOf,
  stopPods,
  watchPods,
} from "../component/index.ts";
import { ports, sorted } from "../configuration/index.ts";
import { GrpcError, type GrpcServer } from "../grpc/index.ts";
import { BuildQueue, type Queue } from "../queue/index.ts";
import type { QueueDependencies } from "../scheduler/drain.ts";
import {
  type BuildbarnSet,
  type ConfigurationChecks,
  certificateOf,
  connectionTo,
  platformOf,
  SetFault,
  schedulerOf,
  setOf,
  watchSet,
  withAuthorities,
  withoutCertificate,
  workerConfiguration,
} from "../set/index.ts";
import { forgetWorker, reportWorker } from "./metrics.ts";
import { workerSelector, workerTemplate } from "./pod.ts";
import { type Scaled, scale } from "./scaler.ts";
import type { ScalingRules, ScalingState } from "./scaling.ts";
import { BuildbarnWorker, type Worker } from "./worker.ts";

/** What the workers' controller stands on. */
export interface WorkerDependencies extends StopDependencies, QueueDependencies {
  /** How often the queue is looked at where workers are scaled by it. @default 5_000 */
  readonly pollMs?: number;
  /** How long an idle pod is marked as the next to be deleted before it is. @default 2_000 */
  readonly noticeMs?: number;
}

type Context = ComponentContext<typeof BuildbarnWorker>;

/** How soon pods that are drained are looked at again. */
const DRAINING_LOOK_MS = 1_000;

/** Keeps the Deployment of each BuildbarnWorker, and scales it. */
export function workerController(checks: ConfigurationChecks, dependencies: WorkerDependencies = {}) {
  return controller(BuildbarnWorker, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnWorker), watchPods()],
    follows: [ConfigMap],
    permissions: [{ kind: Pod, verbs: ["patch"] }],
    concurrency: 8,
    reconcile: (worker, context) => reconcile(worker, context, checks, dependencies),
    finalize: (worker, context) => finalize(worker, context, dependencies),
  });
}

async function reconcile(
  worker: Worker,
  context: Context,
  checks: ConfigurationChecks,
  dependencies: WorkerDependencies,
) {
  const set = await withAuthorities(setOf(context.cache, worker), context);
  const seen = await seenOf(worker, context);
  const scaled = await scaleWorker(worker, set, seen, context, dependencies);
  const { status, children, ...made } = await deploymentOf(
    {
      app: "worker",
      object: worker,
      checks,
      rollout: "beside",
      maxSurge: "25%",
      selector: workerSelector(worker),
      ...(scaled && { replicas: scaled.plan.replicas }),
      build: (own) => workerConfiguration(set, worker, own),
      template: (configured) => workerTemplate(worker, podConfiguration(configured, certificateOf(set))),
    },
    seen,
  );
  return {
    status: {
      ...status,
      ...(scaled && scaled.draining.length > 0 && { draining: scaled.draining }),
      ...scalingStatus(worker, scaled),
      conditions: [...status.conditions, ...autoscalingCondition(worker, scaled)],
    },
    ...(children && {
      children: [
        ...children,
        metricsServiceFor(made),
        // A pod that is evicted ends its actions too. Many may go at a time, for each may take
        // hours.
        budgetFor(made, "25%"),
        networkPolicyFor(made, [{ port: ports.runnerDiagnostics }]),
      ],
    }),
    ...nextLook(worker, scaled, context.clock.now(), dependencies),
  };
}

/** Pods end their actions when they are terminated. They are waited for, but not for ever. */
async function finalize(worker: Worker, context: Context, dependencies: WorkerDependencies) {
  const waiting = await stopPods(worker, context, dependencies);
  if (waiting) return waiting;
  await removeDrains(worker, context, dependencies);
  forgetWorker(context.metrics, context.key);
  return undefined;
}

async function scaleWorker(
  worker: Worker,
  set: BuildbarnSet,
  { deployment, pods }: Awaited<ReturnType<typeof seenOf>>,
  context: Context,
  dependencies: WorkerDependencies,
): Promise<Scaled | undefined> {
  const server = await serverOrNone(set, worker, dependencies);
  if (!server) {
    forgetWorker(context.metrics, context.key);
    return undefined;
  }
  const rules = scalingRules(worker, dependencies);
  const scaled = await scale(
    {
      server,
      queue: queueOf(worker),
      sharers: sharersOf(set, worker),
      rules,
      state: stateOf(worker),
      deployment,
      pods: pods.filter(({ metadata }) => metadata.labels?.component === worker.metadata.name),
      draining: worker.status?.draining ?? [],
    },
    context,
  );
  if (scaled.sight?.is === "known")
    reportWorker(context.metrics, context.key, {
      queued: scaled.sight.queued,
      executing: scaled.executing,
      desired: scaled.plan.desired,
    });
  // Alerts go by them: what was so when the queue was last read may no longer be.
  else forgetWorker(context.metrics, context.key);
  return scaled.fault === undefined ? scaled : { ...scaled, fault: withoutCertificate(scaled.fault, server) };
}

/** Where the queue is read, and what is shown there. */
async function serverOrNone(
  set: BuildbarnSet,
  worker: Worker,
  { queueAddress, certificate }: WorkerDependencies,
): Promise<GrpcServer | undefined> {
  try {
    const scheduler = schedulerOf(set, worker);
    const { name, namespace } = scheduler.metadata;
    const address = (await queueAddress?.(scheduler)) ?? `${name}.${namespace}.svc:${ports.schedulerState}`;
    return { address, ...(await connectionTo(set, certificate)) };
  } catch (error) {
    // The configuration has the same fault, and reports it.
    if (error instanceof SetFault) return undefined;
    throw error;
  }
}

function queueOf(worker: Worker): Queue {
  const { instanceNamePrefix, sizeClass } = worker.spec;
  return { instanceNamePrefix, platform: sorted(platformOf(worker)), sizeClass };
}

/** How many workers of the set are scaled by the queue of this one. */
function sharersOf({ workers }: BuildbarnSet, worker: Worker): number {
  const own = JSON.stringify(queueOf(worker));
  const others = workers.filter(
    (one) =>
      one.metadata.name !== worker.metadata.name &&
      one.metadata.deletionTimestamp === undefined &&
      one.spec.autoscaling !== undefined &&
      JSON.stringify(queueOf(one)) === own,
  );
  return others.length + 1;
}

function scalingRules({ spec }: Worker, { noticeMs = 2_000 }: WorkerDependencies): ScalingRules {
  const { replicas, autoscaling, concurrency } = spec;
  const patience = { drainMs: spec.terminationGracePeriodSeconds * 1_000, noticeMs };
  if (!autoscaling) return { by: "replicas", replicas, ...patience };
  const { minReplicas: min, maxReplicas: max, scaleDownDelay } = autoscaling;
  const delayMs = milliseconds(scaleDownDelay, "spec.autoscaling.scaleDownDelay");
  return { by: "queue", min, max, concurrency, delayMs, ...patience };
}

function stateOf({ status }: Worker): ScalingState | undefined {
  const { lowerSince, mostSince } = status?.autoscaling ?? {};
  return lowerSince === undefined || mostSince === undefined
    ? undefined
    : { lowerSince: Date.parse(lowerSince), most: mostSince };
}

function scalingStatus({ spec, status }: Worker, scaled: Scaled | undefined) {
  if (!spec.autoscaling) return {};
  if (!scaled) return status?.autoscaling && { autoscaling: status.autoscaling };
  const { desired, state } = scaled.plan;
  return {
    autoscaling: {
      desiredReplicas: desired,
      ...(state?.lowerSince !== undefined && {
        lowerSince: timestamp(state.lowerSince),
        mostSince: state.most,
      }),
    },
  };
}

function autoscalingCondition({ spec }: Worker, scaled: Scaled | undefined): readonly WantedCondition[] {
  if (!spec.autoscaling) return [];
  const is = (status: boolean, reason: string, message: string) => [
    condition("AutoscalingActive", status, reason, message),
  ];
  if (!scaled) return is(false, "MissingReference", "there is no scheduler to ask");
  if (scaled.fault !== undefined)
    return is(
      false,
      "SchedulerUnreachable",
      `the scheduler's queue cannot be read, and the number of pods stays: ${scaled.fault}`,
    );
  if (scaled.sight?.is === "missing")
    return is(false, "QueueMissing", "the scheduler does not know the queue yet: at least one pod is kept");
  const { minReplicas, maxReplicas } = spec.autoscaling;
  return is(
    true,
    "ScalesByQueue",
    `between ${minReplicas} and ${maxReplicas} pods, by the scheduler's queue`,
  );
}

function nextLook(
  { spec }: Worker,
  scaled: Scaled | undefined,
  now: number,
  { pollMs = 5_000 }: WorkerDependencies,
): { readonly requeueAfter?: number } {
  if (!scaled) return {};
  const looks = [
    ...(spec.autoscaling ? [pollMs] : []),
    ...(scaled.draining.length > 0
      ? [scaled.fault === undefined ? Math.min(DRAINING_LOOK_MS, pollMs) : pollMs]
      : []),
    ...(scaled.plan.until === undefined ? [] : [Math.max(0, scaled.plan.until - now)]),
  ];
  return looks.length === 0 ? {} : { requeueAfter: Math.min(...looks) };
}

/**
 * The scheduler forgets drains when it stops. Those that it still has are taken away if it can be
 * reached, and do no harm if not.
 */
async function removeDrains(
  worker: Worker,
  context: Context,
  dependencies: WorkerDependencies,
): Promise<void> {
  const draining = worker.status?.draining ?? [];
  const set = await withAuthorities(setOf(context.cache, worker), context);
  const server = await serverOrNone(set, worker, dependencies);
  if (draining.length === 0 || !server) return;
  using queue = new BuildQueue(server);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(5_000)]);
  try {
    for (const pod of draining) await queue.undrain(queueOf(worker), pod, signal);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof GrpcError) && !signal.aborted) throw error;
    context.log.info({ pods: draining }, "drains of pods that are gone stay until the scheduler restarts");
  }
}
