/** The health checks of a real server, by the names that its probes have. */
const everywhere = [
  "ping",
  "log",
  "etcd",
  "poststarthook/start-apiserver-admission-initializer",
  "poststarthook/generic-apiserver-start-informers",
  "poststarthook/priority-and-fairness-config-consumer",
  "poststarthook/priority-and-fairness-filter",
  "poststarthook/storage-object-count-tracker-hook",
  "poststarthook/start-apiextensions-informers",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/crd-informer-synced",
  "poststarthook/start-system-namespaces-controller",
  "poststarthook/start-cluster-authentication-info-controller",
  "poststarthook/start-kube-apiserver-identity-lease-controller",
  "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
  "poststarthook/start-legacy-token-tracking-controller",
  "poststarthook/start-service-ip-repair-controllers",
  "poststarthook/rbac/bootstrap-roles",
  "poststarthook/scheduling/bootstrap-system-priority-classes",
  "poststarthook/priority-and-fairness-config-producer",
  "poststarthook/bootstrap-controller",
  "poststarthook/start-kubernetes-service-cidr-controller",
  "poststarthook/start-kube-aggregator-informers",
  "poststarthook/apiservice-status-local-available-controller",
  "poststarthook/apiservice-status-remote-available-controller",
  "poststarthook/apiservice-registration-controller",
  "poststarthook/apiservice-discovery-controller",
  "poststarthook/kube-apiserver-autoregistration",
  "autoregister-completion",
  "poststarthook/apiservice-openapi-controller",
  "poststarthook/apiservice-openapiv3-controller",
];

const checksOf: { readonly [endpoint: string]: readonly string[] } = {
  healthz: everywhere,
  livez: everywhere,
  readyz: [...everywhere.slice(0, 3), "etcd-readiness", "informer-sync", ...everywhere.slice(3), "shutdown"],
};

/**
 * The checks of `/healthz`, `/livez` or `/readyz`, each with a path of its own; none for other
 * endpoints.
 */
export function healthChecks(endpoint: string): readonly string[] {
  return Object.hasOwn(checksOf, endpoint) ? (checksOf[endpoint] ?? []) : [];
}

/** The verbose report. A server that answers has started completely, so every check passes. */
export function healthReport(endpoint: string, excluded: readonly string[] = []): string {
  return `${healthChecks(endpoint)
    .map((check) => `[+]${check} ${excluded.includes(check) ? "excluded: " : ""}ok\n`)
    .join("")}${endpoint} check passed\n`;
}
