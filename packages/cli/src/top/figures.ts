import { type Sample, total } from "../prometheus-text.ts";

/** All that was read of an operator at a moment. */
export interface Reading {
  /** Milliseconds, from any point. */
  readonly atMs: number;
  /** The metrics of each replica, by its name. */
  readonly replicas: ReadonlyMap<string, readonly Sample[]>;
  /** Why others did not answer. */
  readonly silent: ReadonlyMap<string, string>;
}

/**
 * How a controller does. Rates are per second, times in seconds; a time is undefined where nothing
 * was timed.
 */
export interface ControllerFigures {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  readonly workers: number;
  readonly reconciles: number;
  readonly errors: number;
  readonly writes: number;
  readonly skippedWrites: number;
  readonly medianSeconds: number | undefined;
  readonly p99Seconds: number | undefined;
  readonly queueP99Seconds: number | undefined;
  readonly longestSeconds: number;
  /** Failures since the last reading, by reason, the most frequent first. */
  readonly failures: readonly { readonly reason: string; readonly count: number }[];
}

/** What a cache holds. */
export interface CacheFigures {
  readonly kind: string;
  readonly items: number;
  readonly bytes: number;
  readonly stalenessSeconds: number;
}

/** How an operator does. */
export interface Figures {
  readonly replicas: readonly string[];
  /** Replicas that run and do not answer, and why. */
  readonly silent: readonly { readonly replica: string; readonly why: string }[];
  /** The replica that leads; undefined where none does. */
  readonly leader: string | undefined;
  readonly controllers: readonly ControllerFigures[];
  readonly caches: readonly CacheFigures[];
}

/**
 * What two readings, one after the other, say of an operator. Replicas are added up, since only the
 * leader works. Counters that went back belong to a process that restarted: they count from zero.
 */
export function figuresOf(earlier: Reading, later: Reading): Figures {
  const seconds = Math.max((later.atMs - earlier.atMs) / 1_000, 0.001);
  const names = [...later.replicas.keys()];
  const before = [...earlier.replicas.entries()]
    .filter(([name, samples]) => !hasRestarted(samples, later.replicas.get(name)))
    .flatMap(([, samples]) => samples);
  const now = [...later.replicas.values()].flat();
  // Of one that was silent before, nobody knows how much is new.
  const counted = [...later.replicas.entries()]
    .filter(([name]) => !earlier.silent.has(name))
    .flatMap(([, samples]) => samples);
  const grown = (metric: string, labels: Readonly<Record<string, string>>) =>
    Math.max(0, total(counted, metric, labels) - total(before, metric, labels));
  const controllers = distinct(now, "controller_runtime_max_concurrent_reconciles", "controller");
  return {
    replicas: names,
    silent: [...later.silent].map(([replica, why]) => ({ replica, why })),
    leader: names.find((name) => total(later.replicas.get(name) ?? [], "leader_election_master_status") > 0),
    controllers: controllers.map((name) => {
      const of = { controller: name };
      const rate = (metric: string) => grown(metric, of) / seconds;
      const quantile = (share: number, metric: string) => quantileOf(share, metric, of, before, counted);
      return {
        name,
        waiting: total(now, "workqueue_depth", of),
        active: total(now, "controller_runtime_active_workers", of),
        workers: Math.max(...valuesOf(now, "controller_runtime_max_concurrent_reconciles", of)),
        reconciles: rate("controller_runtime_reconcile_total"),
        errors: rate("controller_runtime_reconcile_errors_total"),
        writes: rate("windlass_writes_total"),
        skippedWrites: rate("windlass_writes_skipped_total"),
        medianSeconds: quantile(0.5, "controller_runtime_reconcile_time_seconds"),
        p99Seconds: quantile(0.99, "controller_runtime_reconcile_time_seconds"),
        queueP99Seconds: quantile(0.99, "workqueue_queue_duration_seconds"),
        longestSeconds: Math.max(0, ...valuesOf(now, "workqueue_longest_running_processor_seconds", of)),
        failures: distinct(now, "windlass_reconcile_failures_total", "reason")
          .map((reason) => ({ reason, count: grown("windlass_reconcile_failures_total", { ...of, reason }) }))
          .filter(({ count }) => count > 0)
          .toSorted((a, b) => b.count - a.count),
      };
    }),
    caches: distinct(now, "windlass_cache_items", "kind").map((kind) => ({
      kind,
      // Every replica holds all of it.
      items: Math.max(
        ...[...later.replicas.values()].map((one) => total(one, "windlass_cache_items", { kind })),
      ),
      bytes: Math.max(
        ...[...later.replicas.values()].map((one) => total(one, "windlass_cache_bytes", { kind })),
      ),
      stalenessSeconds: Math.max(0, ...valuesOf(now, "windlass_cache_staleness_seconds", { kind })),
    })),
  };
}

function hasRestarted(earlier: readonly Sample[], later: readonly Sample[] | undefined): boolean {
  if (later === undefined) return true;
  const metric = "rest_client_requests_total";
  return total(later, metric) < total(earlier, metric);
}

function valuesOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>>,
): readonly number[] {
  const wanted = Object.entries(labels);
  return samples
    .filter((one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value))
    .map(({ value }) => value);
}

function distinct(samples: readonly Sample[], metric: string, label: string): readonly string[] {
  const values = samples.filter(({ name }) => name === metric).map(({ labels }) => labels[label] ?? "");
  return [...new Set(values)].toSorted();
}

/**
 * The value that a share of what was observed between two readings stays below, as Prometheus
 * estimates it.
 */
function quantileOf(
  share: number,
  histogram: string,
  labels: Readonly<Record<string, string>>,
  before: readonly Sample[],
  now: readonly Sample[],
): number | undefined {
  const metric = `${histogram}_bucket`;
  const buckets = distinct(now, metric, "le")
    .map((le) => ({ bound: le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), le }))
    .toSorted((a, b) => a.bound - b.bound)
    .map(({ bound, le }) => ({
      bound,
      count: Math.max(0, total(now, metric, { ...labels, le }) - total(before, metric, { ...labels, le })),
    }));
  const all = buckets.at(-1)?.count ?? 0;
  if (all === 0) return undefined;
  const rank = share * all;
  let [lower, below] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lower;
      return lower + ((bound - lower) * (rank - below)) / Math.max(count - below, 1);
    }
    [lower, below] = [bound, count];
  }
  return lower;
}
