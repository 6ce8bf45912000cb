import type { Labels, Registry } from "./registry.ts";

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

/** The requests that a manager sends to one host, each repetition counted singly. */
export function requestCounter(registry: Registry, host: string) {
  const requests = registry.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "method", "host"],
  });
  const known = new Map<string, Labels>();
  return (method: string, code: string) => {
    const key = method + code;
    let labels = known.get(key);
    if (!labels) {
      labels = Object.freeze({ code, method, host });
      known.set(key, labels);
    }
    requests.inc(labels);
  };
}

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/**
 * How long a manager's requests take, how large they and their answers are, and which are made
 * again: client-go's names and buckets.
 */
export function requestMeasures(registry: Registry) {
  const labels = ["verb", "host"];
  const duration = registry.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Seconds until the answer begins, by verb and host",
    labels,
    buckets: durationBuckets,
  });
  const sent = registry.histogram({
    name: "rest_client_request_size_bytes",
    help: "Bytes of the bodies sent, by verb and host",
    labels,
    buckets: sizeBuckets,
  });
  const received = registry.histogram({
    name: "rest_client_response_size_bytes",
    help: "Bytes of the bodies received to their end, decompressed, by verb and host",
    labels,
    buckets: sizeBuckets,
  });
  const retries = registry.counter({
    name: "rest_client_request_retries_total",
    help: "Requests made again, by what led to it, verb and host",
    labels: ["code", ...labels],
  });
  return {
    ended: (verb: string, host: string, seconds: number, bytes: number) => {
      duration.observe(seconds, { verb, host });
      sent.observe(bytes, { verb, host });
    },
    received: (verb: string, host: string, bytes: number) => received.observe(bytes, { verb, host }),
    retried: (code: string, verb: string, host: string) => retries.inc({ code, verb, host }),
  };
}

/** The rejections that a manager keeps from ending the process. */
export function rejectionCounter(registry: Registry) {
  return registry.counter({
    name: "windlass_unhandled_rejections_total",
    help: "Promise rejections that were not handled",
  });
}
