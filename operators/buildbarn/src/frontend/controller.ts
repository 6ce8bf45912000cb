import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  budgetFor,
  deploymentKinds,
  deploymentOf,
  internalServiceFor,
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
  frontendConfiguration,
  hasInternalWay,
  internalName,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { authoritiesOf, credentialMounts, credentialVolumes } from "./credentials.ts";
import { BuildbarnFrontend } from "./frontend.ts";

const grpc = { grpc: ports.frontend } as const;
const internal = { "internal-grpc": ports.frontendInternal } as const;

/** Keeps the Deployment and the Service of each frontend. */
export const frontendController = (checks: ConfigurationChecks) =>
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
          template: ({ configMap, hash, configuration }) =>
            podTemplate({
              app: "frontend",
              object: frontend,
              selector: podSelector("frontend", metadata.name),
              configMap,
              configHash: hash,
              shardMap: configuration.shardMap,
              certificate: certificateOf(set),
              pod: { volumes: credentialVolumes(frontend) },
              containers: [
                {
                  ...programContainer({
                    name: "storage",
                    image: spec.image ?? profiles[spec.version].images.storage,
                    entry: "frontend.jsonnet",
                    ports: isClosed ? { ...grpc, ...internal } : grpc,
                    resources: spec.resources,
                    mounts: credentialMounts(frontend),
                  }),
                  // New connections stop coming before the program does.
                  lifecycle: { preStop: { sleep: { seconds: 5 } } },
                },
              ],
            }),
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
            serviceFor(made, grpc, { type: spec.serviceType }, spec.serviceAnnotations),
            metricsServiceFor(made),
            isClosed && internalServiceFor(made, internalName(metadata.name), internal),
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

    finalize: (frontend, context) => stopPods(frontend, context),
  });
