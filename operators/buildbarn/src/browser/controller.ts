import { controller } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  budgetFor,
  deploymentKinds,
  deploymentOf,
  ingressFor,
  metricsServiceFor,
  networkPolicyFor,
  podConfiguration,
  type StopDependencies,
  seenOf,
  serviceFor,
  stopPods,
  watchPods,
} from "../component/index.ts";
import { ports } from "../configuration/index.ts";
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
import { browserPorts, browserTemplate } from "./pod.ts";

/** Keeps the Deployment, the Service and the Ingress of each browser. */
export const browserController = (checks: ConfigurationChecks, dependencies: StopDependencies = {}) =>
  controller(BuildbarnBrowser, {
    owns: deploymentKinds,
    watches: [...watchSet(BuildbarnBrowser), watchPods()],
    follows: [ConfigMap],
    concurrency: 4,

    async reconcile(browser, context) {
      const { spec } = browser;
      const set = await withAuthorities(setOf(context.cache, browser), context);
      const { status, children, ...made } = await deploymentOf(
        {
          app: "browser",
          object: browser,
          checks,
          rollout: "beside",
          build: (own) => browserConfiguration(set, browser, own),
          template: (found) => browserTemplate(browser, podConfiguration(found, certificateOf(set))),
        },
        await seenOf(browser, context),
      );
      return {
        status: { ...status, url: browserUrl({ ...set, browsers: [browser] }) },
        ...(children && {
          children: [
            ...children,
            serviceFor(made, browserPorts, { type: spec.serviceType }),
            metricsServiceFor(made),
            budgetFor(made),
            spec.ingressHost !== undefined && ingressFor(made, spec.ingressHost, spec.ingress),
            networkPolicyFor(made, [{ port: ports.browser }]),
          ],
        }),
      };
    },

    finalize: (browser, context) => stopPods(browser, context, dependencies),
  });
