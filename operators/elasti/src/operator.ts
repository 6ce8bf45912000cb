import type { Controller, PolicyRule, Runnable } from "@windlass/runtime";
import { pathProof } from "./path-proof.ts";
import { resolversIn } from "./service/cluster-view.ts";
import { type ElastiDependencies, elastiController } from "./service/controller.ts";
import { goneResolvers } from "./service/gone-resolvers.ts";
import { operatorMetrics } from "./service/operator-metrics.ts";
import { TcpPathProbe } from "./service/path-probe.ts";
import { ResolverLinks } from "./service/resolver-links.ts";
import { httpReports } from "./service/resolver-reports.ts";
import type { KindLookup } from "./service/scale-target.ts";
import { slicesOf } from "./service/sight.ts";
import { tokenCheck } from "./service/token-check.ts";
import { wakeServer } from "./service/wake-server.ts";
import type { OperatorSettings } from "./settings.ts";
import { type RequestCount, TriggerEvaluator } from "./triggers/evaluator.ts";
import { fetchJson, type ReadSecret } from "./triggers/number-source.ts";
import { Prometheus } from "./triggers/prometheus.ts";

/**
 * What the operator consists of: a controller that the leader runs, and what every replica does.
 */
export interface Operator {
  readonly controller: Controller;
  readonly everywhere: readonly Runnable[];
  /** Which replicas of the resolver it has a connection to. */
  readonly links: ResolverLinks;
}

/** Rights of the operator beside those of its controller. */
export const operatorRules: readonly PolicyRule[] = [
  // To know who asks for a wake. Needed with ELASTI_WAKE_AUDIENCE only.
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
];

/**
 * Puts the operator together.
 *
 * @param kinds what can be scaled: `Client.discovery` is one.
 * @param readSecret reads what triggers have in Secrets. @default none can be read
 */
export function operator(settings: OperatorSettings, kinds: KindLookup, readSecret?: ReadSecret): Operator {
  const ports = settings.ELASTI_RESOLVER_PORT;
  const reports = httpReports(ports);
  const resolver = {
    namespace: settings.ELASTI_RESOLVER_NAMESPACE ?? settings.POD_NAMESPACE,
    name: settings.ELASTI_RESOLVER_SERVICE_NAME,
  };
  const own = {
    ...(settings.PROMETHEUS_TRIGGER_SERVER_ADDRESS !== undefined && {
      serverAddress: settings.PROMETHEUS_TRIGGER_SERVER_ADDRESS,
    }),
    ...(settings.PROMETHEUS_TRIGGER_AUTHORIZATION_HEADER !== undefined && {
      authorization: settings.PROMETHEUS_TRIGGER_AUTHORIZATION_HEADER,
    }),
  };
  const wishes = new TriggerEvaluator({
    prometheus: new Prometheus(fetchJson, own),
    fetchJson,
    countRequests: countBy(reports, resolver),
    ...(readSecret && { readSecret }),
    intervalMs: settings.POLLING_INTERVAL * 1_000,
  });
  const links = new ResolverLinks(ports);
  const { ELASTI_WAKE_AUDIENCE: audience, ELASTI_WAKE_ACCOUNT: account } = settings;
  return {
    controller: elastiController({
      kinds,
      probe: new TcpPathProbe(pathProof(settings.PATH_PROBE_KEY)),
      reports,
      wishes,
      resolver,
      links,
      portRange: settings.ELASTI_RESOLVER_PORT_RANGE,
      patience: { settleMs: settings.SETTLE_SECONDS * 1_000, proofMs: 30_000, reprieveMs: 10_000 },
    }),
    everywhere: [
      wakeServer({
        port: settings.ELASTI_OPERATOR_PORT,
        ...(audience !== undefined && { authorize: tokenCheck(audience, account) }),
      }),
      goneResolvers(links, resolver),
      operatorMetrics(),
    ],
    links,
  };
}

/**
 * What all processes of the resolver report together. If one does not answer, the number is not
 * known.
 */
function countBy(
  reports: ElastiDependencies["reports"],
  resolver: ElastiDependencies["resolver"],
): RequestCount {
  return async ({ metadata, spec }, { cache, signal }) => {
    const replicas = resolversIn(slicesOf({ cache }, resolver)).filter(({ isReady }) => isReady);
    const answers = await Promise.all(
      replicas.flatMap(({ address }) =>
        reports.ports.map((port) => reports.of(address, port, metadata.namespace, spec.service, signal)),
      ),
    );
    const reported = answers.filter((report) => report !== undefined && report !== "gone");
    if (answers.length === 0 || reported.length < answers.length) return undefined;
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    return {
      requests: sum(reported.map(({ requests }) => requests)),
      inFlight: sum(reported.map(({ inFlight, held }) => inFlight + held)),
      stamp: reported
        .map(({ instance = "", requests }) => `${instance}:${requests}`)
        .toSorted((a, b) => a.localeCompare(b))
        .join(" "),
    };
  };
}
