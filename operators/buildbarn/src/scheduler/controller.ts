import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  afterWorkers,
  deploymentKinds,
  deploymentOf,
  eventPermission,
  ingressFor,
  metricsServiceFor,
  networkPolicyFor,
  operatorPods,
  podConfiguration,
  podsOf,
  type StopDependencies,
  seenOf,
  serviceFor,
  stopPods,
  watchPods,
} from "../component/index.ts";
import { ports } from "../configuration/index.ts";
import {
  type BuildbarnSet,
  type ConfigurationChecks,
  certificateOf,
  frontendOf,
  SetFault,
  schedulerConfiguration,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import {
  drainLookMs,
  type RestartDependencies,
  type RestartLook,
  restartOf,
  restartStatus,
} from "./drain.ts";
import { schedulerPorts, schedulerTemplate } from "./pod.ts";
import { BuildbarnScheduler, type Scheduler } from "./scheduler.ts";

/** Keeps the Deployment, the Service and the Ingress of each scheduler. */
export const schedulerController = (
  checks: ConfigurationChecks,
  dependencies: StopDependencies & RestartDependencies = {},
) =>
  controller(BuildbarnScheduler, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnScheduler), watchPods()],
    follows: [ConfigMap],
    permissions: [eventPermission],
    concurrency: 4,

    async reconcile(scheduler, context) {
      const { spec, metadata } = scheduler;
      const set = await withAuthorities(setOf(context.cache, scheduler), context);
      const frontend = chosenFrontend(set, scheduler);
      const chosen: Scheduler = { ...scheduler, status: { ...scheduler.status, ...frontend } };
      const seen = await seenOf(scheduler, context);
      const isServing = (seen.deployment?.status?.readyReplicas ?? 0) > 0;
      const lookAt = (isDue: boolean) =>
        restartOf(scheduler, set, { deployment: seen.deployment, isDue }, context, dependencies);
      let restart: RestartLook | undefined;
      const { status, children, requeueAfter, ...made } = await deploymentOf(
        {
          app: "scheduler",
          object: scheduler,
          checks,
          rollout: "alone",
          build: (files) => schedulerConfiguration(set, chosen, files),
          hold: async (isDue) => {
            // Where nothing runs, there is nothing to wait for.
            restart = await lookAt(isDue && (isServing || scheduler.status?.restart !== undefined));
            return restart.held;
          },
          template: (found) => schedulerTemplate(scheduler, podConfiguration(found, certificateOf(set))),
        },
        seen,
      );
      // Without a configuration nothing is restarted, and workers are to get actions again.
      restart ??= await lookAt(false);
      const stored = { ...frontend, ...(restart.state && { restart: restartStatus(restart.state) }) };
      // It is stored before the operator acts on it.
      if (frontend.frontend !== scheduler.status?.frontend)
        return { status: { ...status, ...stored }, requeueAfter: 0 };
      const host = spec.ingressHost ?? `bb-scheduler.${metadata.namespace}`;
      const inSet = (app: "frontend" | "worker") => [podsOf(app, spec.cluster)];
      return {
        status: { ...status, ...stored },
        ...nextLook(scheduler, restart, requeueAfter),
        ...(children && {
          children: [
            ...children,
            serviceFor(made, schedulerPorts, { type: spec.serviceType }),
            metricsServiceFor(made),
            host !== "" && ingressFor(made, host, spec.ingress),
            networkPolicyFor(made, [
              { port: ports.schedulerClients, from: inSet("frontend") },
              { port: ports.schedulerWorkers, from: inSet("worker") },
              { port: ports.schedulerState, from: [operatorPods] },
              { port: ports.schedulerPage },
            ]),
          ],
        }),
      };
    },

    finalize: (scheduler, context) => {
      const { cache, clock } = context;
      const workers = cache.list(BuildbarnWorker, { namespace: scheduler.metadata.namespace });
      return afterWorkers(scheduler, workers, clock.now()) ?? stopPods(scheduler, context, dependencies);
    },
  });

/** When something changes that no event reports. */
function nextLook(
  { status }: Scheduler,
  { state, held }: RestartLook,
  trial: number | undefined,
): { readonly requeueAfter?: number } {
  if (state) return { requeueAfter: held && !status?.restart ? 0 : drainLookMs };
  return trial === undefined ? {} : { requeueAfter: trial };
}

/** The frontend that a scheduler is to use; the one that it uses, where that is not known. */
function chosenFrontend(set: BuildbarnSet, scheduler: Scheduler): { readonly frontend?: string } {
  try {
    return { frontend: frontendOf(set, scheduler).metadata.name };
  } catch (error) {
    // The configuration has the same fault, and reports it.
    if (!(error instanceof SetFault)) throw error;
    const { frontend } = scheduler.status ?? {};
    return frontend === undefined ? {} : { frontend };
  }
}
