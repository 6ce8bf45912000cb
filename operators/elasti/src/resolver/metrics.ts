import type { Counter, Histogram, Labels, Registry } from "@windlass/runtime";
import type { ServiceTraffic, Target } from "./targets.ts";
import type { WakeObserver } from "./wake.ts";

/**
 * From a request that found its target asleep: until the operator knew, an endpoint was ready, and
 * it began to answer.
 */
export type ColdStartPhase = "notify" | "ready" | "first_byte";

/** How a request ended: a class of status, or that its client left before it was answered. */
export type RequestResult = "1xx" | "2xx" | "3xx" | "4xx" | "5xx" | "aborted";

const results: readonly RequestResult[] = ["1xx", "2xx", "3xx", "4xx", "5xx", "aborted"];
const requestBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 900];
const coldStartBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300, 600, 900];

/** The class of a status. */
export function resultOf(status: number): RequestResult {
  return results[Math.floor(status / 100) - 1] ?? "5xx";
}

/**
 * What a resolver counts. Labels are services that exist and fixed words: nothing that a client
 * sends becomes a label.
 */
export class ResolverMetrics {
  readonly #requests: Histogram;
  readonly #failures: Counter;
  readonly #malformed: Counter;
  readonly #coldStart: Histogram;
  readonly #calls: Counter;
  readonly #probes: Counter;

  /** @param traffic what there is of each service at the time. */
  constructor(registry: Registry, traffic: () => readonly ServiceTraffic[]) {
    const service = ["namespace", "source"];
    this.#requests = registry.histogram({
      name: "elasti_resolver_incoming_requests",
      help: "Seconds from a request to the end of its response, held time included",
      labels: [...service, "status"],
      buckets: requestBuckets,
    });
    this.#failures = registry.counter({
      name: "elasti_resolver_failures_total",
      help: "Requests that were not served by their target, and why",
      labels: [...service, "reason"],
    });
    this.#malformed = registry.counter({
      name: "elasti_resolver_malformed_requests_total",
      help: "Requests that were refused because they are malformed or ambiguous",
      labels: ["fault"],
    });
    this.#coldStart = registry.histogram({
      name: "elasti_resolver_cold_start_seconds",
      help: "Seconds from the first request that found its target asleep to each phase of its wake",
      labels: [...service, "phase"],
      buckets: coldStartBuckets,
    });
    this.#calls = registry.counter({
      name: "elasti_resolver_operator_rpc_count",
      help: "Calls to the operator that asked for a wake",
      labels: ["error"],
    });
    this.#probes = registry.counter({
      name: "elasti_resolver_probe_responses_total",
      help: "Requests that were answered without waking their target",
      labels: service,
    });
    const queued = registry.gauge({
      name: "elasti_resolver_queued_count",
      help: "Requests that wait for their target",
      labels: service,
    });
    queued.collect((gauge) => {
      for (const { namespace, service: source, held } of traffic()) gauge.set(held, { namespace, source });
    });
    const inFlight = registry.gauge({
      name: "elasti_resolver_in_flight_requests",
      help: "Requests and connections that were forwarded and are not over",
      labels: service,
    });
    inFlight.collect((gauge) => {
      for (const one of traffic()) gauge.set(one.inFlight, { namespace: one.namespace, source: one.service });
    });
    for (const error of ["false", "true"]) this.#calls.inc({ error }, 0);
  }

  malformed(fault: string): void {
    this.#malformed.inc({ fault });
  }

  /** The metrics of one service. */
  of({ namespace, service }: Pick<Target, "namespace" | "service">): ServiceMetrics {
    const labels = Object.freeze({ namespace, source: service });
    const byResult = new Map<RequestResult, Labels>(
      results.map((status) => [status, Object.freeze({ ...labels, status })]),
    );
    return {
      requested: (result, seconds) => this.#requests.observe(seconds, byResult.get(result)),
      failed: (reason) => this.#failures.inc({ ...labels, reason }),
      coldStart: (phase, ms) => this.#coldStart.observe(ms / 1_000, { ...labels, phase }),
      called: (result, ms) => {
        this.#calls.inc({ error: String(result === "error") });
        if (result === "success") this.#coldStart.observe(ms / 1_000, { ...labels, phase: "notify" });
      },
      probed: () => this.#probes.inc(labels),
    };
  }
}

/** What is counted of one service. */
export interface ServiceMetrics extends WakeObserver {
  requested(result: RequestResult, seconds: number): void;
  failed(reason: string): void;
  coldStart(phase: ColdStartPhase, ms: number): void;
  probed(): void;
}
