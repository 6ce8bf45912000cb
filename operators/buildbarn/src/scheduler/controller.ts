import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  afterWorkers,
  deploymentKinds,
  deploymentOf,
  ingressFor,
  metricsServiceFor,
  networkPolicyFor,
  operatorPods,
  podConfiguration,
  podsOf,
  seenOf,
  serviceFor,
  stopPods,
  watchPods,
} from "../component/index.ts";
import { ports } from "../configuration/index.ts";
import {
  type ConfigurationChecks,
  certificateOf,
  schedulerConfiguration,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { schedulerPorts, schedulerTemplate } from "./pod.ts";
import { BuildbarnScheduler } from "./scheduler.ts";

/** Keeps the Deployment, the Service and the Ingress of each scheduler. */
export const schedulerController = (checks: ConfigurationChecks) =>
  controller(BuildbarnScheduler, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnScheduler), watchPods()],
    follows: [ConfigMap],
    concurrency: 4,

    async reconcile(scheduler, context) {
      const { spec, metadata } = scheduler;
      const set = await withAuthorities(setOf(context.cache, scheduler), context);
      const { status, children, ...made } = await deploymentOf(
        {
          app: "scheduler",
          object: scheduler,
          checks,
          rollout: "alone",
          build: (files) => schedulerConfiguration(set, scheduler, files),
          template: (found) => schedulerTemplate(scheduler, podConfiguration(found, certificateOf(set))),
        },
        await seenOf(scheduler, context),
      );
      const host = spec.ingressHost ?? `bb-scheduler.${metadata.namespace}`;
      const inSet = (app: "frontend" | "worker") => [podsOf(app, spec.cluster)];
      return {
        status,
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
      return afterWorkers(scheduler, workers, clock.now()) ?? stopPods(scheduler, context);
    },
  });
