import type { Registry } from "./registry.ts";

/** What leader election reports, under client-go's names. Both series start at zero. */
export function electionMetrics(registry: Registry, name: string) {
  const status = registry.gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labels: ["name"],
  });
  const slowpath = registry.counter({
    name: "leader_election_slowpath_total",
    help: "Renewals for which the leader had to read the lease first, because someone else had written it",
    labels: ["name"],
  });
  status.set(0, { name });
  slowpath.inc({ name }, 0);
  return {
    led: (isLeading: boolean) => status.set(isLeading ? 1 : 0, { name }),
    renewedSlowly: () => slowpath.inc({ name }),
  };
}

/** The requests that a manager sends, each repetition counted singly. */
export function requestCounter(registry: Registry) {
  return registry.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "method", "host"],
  });
}

/** The rejections that a manager keeps from ending the process. */
export function rejectionCounter(registry: Registry) {
  return registry.counter({
    name: "windlass_unhandled_rejections_total",
    help: "Promise rejections that nobody handled",
  });
}
