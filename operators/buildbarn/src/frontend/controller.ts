import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { forgetCertificate } from "../certificates/metrics.ts";
import {
  afterWorkers,
  budgetFor,
  deploymentKinds,
  deploymentOf,
  internalServiceFor,
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
import { forgetProbe } from "../probe/metrics.ts";
import {
  type ConfigurationChecks,
  certificateOf,
  frontendConfiguration,
  hasInternalWay,
  internalName,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { authoritiesOf } from "./credentials.ts";
import { BuildbarnFrontend } from "./frontend.ts";
import { frontendTemplate, internalPorts, publicPorts } from "./pod.ts";

/** Keeps the Deployment and the Service of each frontend. */
export const frontendController = (checks: ConfigurationChecks, dependencies: StopDependencies = {}) =>
  controller(BuildbarnFrontend, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnFrontend), watchPods()],
    follows: [ConfigMap],
    concurrency: 4,

    async reconcile(frontend, context) {
      const { spec, metadata } = frontend;
      const set = await withAuthorities(setOf(context.cache, frontend), context);
      const authorities = await authoritiesOf(frontend, context);
      const isClosed = hasInternalWay(set, frontend);
      const { status, children, ...made } = await deploymentOf(
        {
          app: "frontend",
          object: frontend,
          checks,
          rollout: "beside",
          build: (own) => frontendConfiguration(set, frontend, own, authorities),
          template: (found) =>
            frontendTemplate(frontend, podConfiguration(found, certificateOf(set)), { isInternal: isClosed }),
        },
        await seenOf(frontend, context),
      );
      const scheme = spec.tls ? "grpcs" : "grpc";
      const endpoint = `${scheme}://${metadata.name}.${metadata.namespace}.svc:${ports.frontend}`;
      return {
        status: { ...status, endpoint },
        ...(children && {
          children: [
            ...children,
            serviceFor(made, publicPorts, { type: spec.serviceType }, spec.serviceAnnotations),
            metricsServiceFor(made),
            isClosed && internalServiceFor(made, internalName(metadata.name), internalPorts),
            budgetFor(made),
            networkPolicyFor(made, [
              { port: ports.frontend },
              ...(isClosed
                ? [{ port: ports.frontendInternal, from: [podsOf("scheduler", spec.cluster), operatorPods] }]
                : []),
            ]),
          ],
        }),
      };
    },

    async finalize(frontend, context) {
      const { cache, clock } = context;
      const workers = cache.list(BuildbarnWorker, { namespace: frontend.metadata.namespace });
      const waiting =
        afterWorkers(frontend, workers, clock.now()) ?? (await stopPods(frontend, context, dependencies));
      if (waiting) return waiting;
      forgetCertificate(context.metrics, { kind: "BuildbarnFrontend", ...frontend.metadata });
      forgetProbe(context.metrics, frontend.metadata);
      return undefined;
    },
  });
