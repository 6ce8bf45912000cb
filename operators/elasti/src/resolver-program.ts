import type { PolicyRule, Runnable } from "@windlass/runtime";
import { pathProof } from "./path-proof.ts";
import { OperatorWaker, resolver, resolverShutdownMs } from "./resolver/index.ts";
import { TargetFeed } from "./service/target-feed.ts";
import type { ResolverSettings } from "./settings.ts";

/** All that the resolver may do: it reads two kinds, and writes nothing. */
export const resolverRules: readonly PolicyRule[] = [
  { apiGroups: ["elasti.truefoundry.com"], resources: ["elastiservices"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch"] },
];

/** The resolver as a part of a manager, and how long that must be given to stop. */
export function resolverProgram(settings: ResolverSettings): {
  readonly runnable: Runnable;
  readonly shutdownMs: number;
} {
  const namespace = settings.ELASTI_OPERATOR_NAMESPACE ?? settings.POD_NAMESPACE;
  const { KUBERNETES_CLUSTER_DOMAIN: domain, ELASTI_OPERATOR_SERVICE_NAME: name } = settings;
  // The dot at the end spares the resolver of the node its search list.
  const service = `http://${name}.${namespace}.svc.${domain}.:${settings.ELASTI_OPERATOR_PORT}`;
  const drain = { acceptFor: "5s", within: settings.DRAIN_SECONDS * 1_000 } as const;
  const runnable = resolver({
    follow: async (table, context) => {
      const feed = new TargetFeed(table);
      await feed.start(context);
      return feed;
    },
    waker: new OperatorWaker({
      operator: settings.ELASTI_OPERATOR_URL ?? service,
      ...(settings.ELASTI_OPERATOR_TOKEN_FILE !== undefined && {
        tokenFile: settings.ELASTI_OPERATOR_TOKEN_FILE,
      }),
    }),
    sharedPort: settings.ELASTI_RESOLVER_PROXY_PORT,
    internalPort: settings.ELASTI_RESOLVER_PORT,
    clusterDomain: domain,
    pathProof: pathProof(settings.PATH_PROBE_KEY),
    sharesPorts: settings.ELASTI_RESOLVER_SHARES_PORTS,
    ...(settings.ELASTI_RESOLVER_HOST !== undefined && { host: settings.ELASTI_RESOLVER_HOST }),
    ...(settings.HEADER_FOR_HOST !== undefined && { hostHeader: settings.HEADER_FOR_HOST }),
    limits: {
      held: settings.QUEUE_SIZE,
      heldBytes: settings.QUEUE_MEGABYTES * 1024 * 1024,
      hold: settings.REQ_TIMEOUT * 1_000,
    },
    drain,
  });
  return { runnable, shutdownMs: resolverShutdownMs(drain) };
}
