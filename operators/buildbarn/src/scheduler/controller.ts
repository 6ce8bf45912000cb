import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  deploymentKinds,
  deploymentOf,
  ingressFor,
  metricsServiceFor,
  networkPolicyFor,
  operatorPods,
  podsOf,
  podTemplate,
  programContainer,
  seenOf,
  serviceFor,
  stopPods,
  watchPods,
} from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { podSelector } from "../names.ts";
import {
  type ConfigurationChecks,
  certificateOf,
  schedulerConfiguration,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnScheduler } from "./scheduler.ts";

const own = {
  "client-grpc": ports.schedulerClients,
  "worker-grpc": ports.schedulerWorkers,
  "state-grpc": ports.schedulerState,
  http: ports.schedulerPage,
} as const;

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
          template: ({ configMap, hash }) =>
            podTemplate({
              app: "scheduler",
              object: scheduler,
              selector: podSelector("scheduler", metadata.name),
              configMap,
              configHash: hash,
              shardMap: undefined,
              certificate: certificateOf(set),
              containers: [
                programContainer({
                  name: "scheduler",
                  image: spec.image ?? profiles[spec.version].images.scheduler,
                  entry: "scheduler.jsonnet",
                  ports: own,
                  resources: spec.resources,
                }),
              ],
            }),
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
            serviceFor(made, own, { type: spec.serviceType }),
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

    finalize: (scheduler, context) => stopPods(scheduler, context),
  });
