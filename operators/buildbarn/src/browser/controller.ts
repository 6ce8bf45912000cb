import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  budgetFor,
  deploymentKinds,
  deploymentOf,
  ingressFor,
  metricsServiceFor,
  networkPolicyFor,
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
  browserConfiguration,
  browserUrl,
  type ConfigurationChecks,
  certificateOf,
  setOf,
  watchSet,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnBrowser } from "./browser.ts";

const http = { http: ports.browser } as const;

/** Keeps the Deployment, the Service and the Ingress of each browser. */
export const browserController = (checks: ConfigurationChecks) =>
  controller(BuildbarnBrowser, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnBrowser), watchPods()],
    follows: [ConfigMap],
    concurrency: 4,

    async reconcile(browser, context) {
      const { spec, metadata } = browser;
      const set = await withAuthorities(setOf(context.cache, browser), context);
      const { status, children, ...made } = await deploymentOf(
        {
          app: "browser",
          object: browser,
          checks,
          rollout: "beside",
          build: (own) => browserConfiguration(set, browser, own),
          template: ({ configMap, hash, configuration }) =>
            podTemplate({
              app: "browser",
              object: browser,
              selector: podSelector("browser", metadata.name),
              configMap,
              configHash: hash,
              shardMap: configuration.shardMap,
              certificate: certificateOf(set),
              containers: [
                {
                  ...programContainer({
                    name: "browser",
                    // The definition wants an image where none is known.
                    image: spec.image ?? profiles[spec.version].images.browser ?? "",
                    entry: "browser.jsonnet",
                    ports: http,
                    resources: spec.resources,
                  }),
                  lifecycle: { preStop: { sleep: { seconds: 5 } } },
                },
              ],
            }),
        },
        await seenOf(browser, context),
      );
      return {
        status: { ...status, url: browserUrl({ ...set, browsers: [browser] }) },
        ...(children && {
          children: [
            ...children,
            serviceFor(made, http, { type: spec.serviceType }),
            metricsServiceFor(made),
            budgetFor(made),
            spec.ingressHost !== undefined && ingressFor(made, spec.ingressHost, spec.ingress),
            networkPolicyFor(made, [{ port: ports.browser }]),
          ],
        }),
      };
    },

    finalize: (browser, context) => stopPods(browser, context),
  });
