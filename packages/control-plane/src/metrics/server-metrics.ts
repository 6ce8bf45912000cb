import type { Clock } from "@windlass/clock";
import { counter, type Distribution, gauge, histogram, type Rendered } from "./families.ts";
import { RequestMetrics } from "./request-metrics.ts";

const admissionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const webhookBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Each ten times the one before, as Go multiplies. */
const queueBounds = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 1e-3, 1e-2, 1e-1, 1, 10];

/** The phases of admission, by the real server's names. */
export type AdmissionStep = "admit" | "validate";

/** What asking a webhook came to. */
export interface HookOutcome {
  readonly name: string;
  readonly type: AdmissionStep;
  readonly operation: string;
  readonly seconds: number;
  readonly code: number;
  /** Why the request is refused; undefined where it is not. */
  readonly rejection: "no_error" | "calling_webhook_error" | "apiserver_internal_error" | undefined;
}

/**
 * The measures of one control plane, by the names, labels and buckets of the real server's.
 * Durations are by the clock of the control plane: where that stands still, nothing takes time.
 */
export class ServerMetrics {
  readonly #clock: Clock;
  readonly requests: RequestMetrics;

  readonly #plugins = histogram(
    {
      name: "apiserver_admission_controller_admission_duration_seconds",
      help: "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
      labels: ["name", "operation", "rejected", "type"],
    },
    admissionBounds,
  );
  readonly #steps = histogram(
    {
      name: "apiserver_admission_step_admission_duration_seconds",
      help: "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).",
      labels: ["operation", "rejected", "type"],
    },
    admissionBounds,
  );
  readonly #hooks = histogram(
    {
      name: "apiserver_admission_webhook_admission_duration_seconds",
      help: "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
      labels: ["name", "operation", "rejected", "type"],
    },
    webhookBounds,
  );
  readonly #hookRequests = counter({
    name: "apiserver_admission_webhook_request_total",
    help: "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type (validating or mutating) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["code", "name", "operation", "rejected", "type"],
  });
  readonly #hookRejections = counter({
    name: "apiserver_admission_webhook_rejection_count",
    help: "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["error_type", "name", "operation", "rejection_code", "type"],
  });

  readonly #added = queueCounter("workqueue_adds_total", "Total number of adds handled by workqueue");
  readonly #retried = queueCounter("workqueue_retries_total", "Total number of retries handled by workqueue");
  readonly #depth = queueGauge("workqueue_depth", "Current depth of workqueue");
  readonly #unfinished = queueGauge(
    "workqueue_unfinished_work_seconds",
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
  );
  readonly #longest = queueGauge(
    "workqueue_longest_running_processor_seconds",
    "How many seconds has the longest running processor for workqueue been running.",
  );
  readonly #worked = queueHistogram(
    "workqueue_work_duration_seconds",
    "How long in seconds processing an item from workqueue takes.",
  );
  readonly #waited = queueHistogram(
    "workqueue_queue_duration_seconds",
    "How long in seconds an item stays in workqueue before being requested.",
  );
  readonly #queues = new Set<QueueMetrics>();
  readonly #passed: Readonly<Record<AdmissionStep, Map<string, Map<string, Distribution>>>> = {
    admit: new Map(),
    validate: new Map(),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
    this.requests = new RequestMetrics(clock);
  }

  /** The time, in seconds, by which durations are measured. */
  now(): number {
    return this.#clock.monotonic() / 1000;
  }

  /** One plugin has checked one write. */
  admitted(
    plugin: string,
    type: AdmissionStep,
    operation: string,
    isRejected: boolean,
    seconds: number,
  ): void {
    if (isRejected) this.#plugins.of(plugin, operation, "true", type).observe(seconds);
    else this.#passing(plugin, type, operation).observe(seconds);
  }

  /** Every write passes every plugin: these are found without making a text of their labels. */
  #passing(plugin: string, type: AdmissionStep, operation: string): Distribution {
    const operations = this.#passed[type];
    let plugins = operations.get(operation);
    if (!plugins) {
      plugins = new Map();
      operations.set(operation, plugins);
    }
    let found = plugins.get(plugin);
    if (!found) {
      found = this.#plugins.of(plugin, operation, "false", type);
      plugins.set(plugin, found);
    }
    return found;
  }

  /** All plugins have. */
  stepped(type: AdmissionStep, operation: string, isRejected: boolean, seconds: number): void {
    this.#steps.of(operation, String(isRejected), type).observe(seconds);
  }

  hookAsked({ name, type, operation, seconds, code, rejection }: HookOutcome): void {
    const rejected = String(rejection !== undefined);
    this.#hooks.of(name, operation, rejected, type).observe(seconds);
    this.#hookRequests.of(String(Math.min(code, 600)), name, operation, rejected, type).add();
    if (rejection === undefined) return;
    const refused = rejection === "no_error" ? String(Math.min(code, 600)) : "0";
    this.#hookRejections.of(rejection, name, operation, refused, type).add();
  }

  /** The measures of a controller's queue, for as long as it runs. */
  queue(name: string): QueueMetrics {
    const queue = new QueueMetrics({
      now: () => this.now(),
      name,
      added: this.#added.of(name),
      retried: this.#retried.of(name),
      worked: this.#worked.of(name),
      waited: this.#waited.of(name),
    });
    this.#queues.add(queue);
    return queue;
  }

  /** All of it in the Prometheus text format. @param others what is asked for at this moment */
  render(others: readonly Rendered[]): string {
    for (const queue of this.#queues) {
      this.#depth.of(queue.name).value = queue.depth;
      this.#unfinished.of(queue.name).value = queue.runningSeconds;
      this.#longest.of(queue.name).value = queue.runningSeconds;
    }
    const families: readonly Rendered[] = [
      this.#plugins,
      this.#steps,
      this.#hooks,
      this.#hookRequests,
      this.#hookRejections,
      ...this.requests.families,
      ...others,
      this.#added,
      this.#depth,
      this.#longest,
      this.#waited,
      this.#retried,
      this.#unfinished,
      this.#worked,
    ];
    return families.map((family) => family.render()).join("");
  }
}

interface QueueSeries {
  readonly now: () => number;
  readonly name: string;
  readonly added: { add(): void };
  readonly retried: { add(): void };
  readonly worked: { observe(seconds: number): void };
  readonly waited: { observe(seconds: number): void };
}

/** What is measured of one queue, of which one key is worked on at a time. */
export class QueueMetrics {
  readonly #series: QueueSeries;
  readonly #since = new Map<string, number>();
  #startedAt: number | undefined;

  constructor(series: QueueSeries) {
    this.#series = series;
  }

  get name(): string {
    return this.#series.name;
  }

  get depth(): number {
    return this.#since.size;
  }

  get runningSeconds(): number {
    return this.#startedAt === undefined ? 0 : this.#series.now() - this.#startedAt;
  }

  /** A key was added that did not wait yet. */
  added(key: string): void {
    this.#series.added.add();
    this.#since.set(key, this.#series.now());
  }

  started(key: string): void {
    const now = this.#series.now();
    this.#series.waited.observe(now - (this.#since.get(key) ?? now));
    this.#since.delete(key);
    this.#startedAt = now;
  }

  ended(): void {
    this.#series.worked.observe(this.runningSeconds);
    this.#startedAt = undefined;
  }

  retried(): void {
    this.#series.retried.add();
  }

  /** Nothing waits any more. */
  clear(): void {
    this.#since.clear();
  }
}

function queueCounter(name: string, help: string) {
  return counter({ name, help: `[ALPHA] ${help}`, labels: ["name"] });
}

function queueGauge(name: string, help: string) {
  return gauge({ name, help: `[ALPHA] ${help}`, labels: ["name"] });
}

function queueHistogram(name: string, help: string) {
  return histogram({ name, help: `[ALPHA] ${help}`, labels: ["name"] }, queueBounds);
}
