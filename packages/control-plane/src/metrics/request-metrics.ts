import type { Clock } from "@windlass/clock";
import type { ApiResponse, Sink, Streaming } from "../http/request.ts";
import { counter, type Distribution, gauge, histogram, type Rendered, type Value } from "./families.ts";

/** What a request is counted under. */
export interface RequestLabels {
  /** As the real server names it: LIST, POST, APPLY … */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: "cluster" | "namespace" | "resource" | "";
  /** @default "" */
  readonly dryRun?: string;
}

/** Everything that is measured of requests of one sort. Found once for each of them. */
interface Measured {
  readonly codes: Map<number, Value>;
  readonly duration: Distribution;
  /** Without those that go on for as long as the client listens. */
  readonly indicator: Distribution;
  readonly sizes: Distribution;
}

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const eventBounds = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

const about = ["group", "resource", "scope", "subresource", "verb", "version"];
const writing = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "CONNECT"]);

/** Counts requests and the streams that come of some. */
export class RequestMetrics {
  readonly #clock: Clock;
  readonly #measured = new Map<string, Measured>();
  readonly #total = counter({
    name: "apiserver_request_total",
    help: "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
    labels: ["code", "component", "dry_run", ...about],
  });
  readonly #durations = histogram(
    {
      name: "apiserver_request_duration_seconds",
      help: "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.",
      labels: ["component", "dry_run", ...about],
    },
    durationBounds,
  );
  readonly #indicators = histogram(
    {
      name: "apiserver_request_sli_duration_seconds",
      help: "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.",
      labels: ["component", ...about],
    },
    durationBounds.slice(2),
  );
  readonly #sizes = histogram(
    {
      name: "apiserver_response_sizes",
      help: "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.",
      labels: ["component", ...about],
    },
    sizeBounds,
  );
  readonly #running = gauge({
    name: "apiserver_current_inflight_requests",
    help: "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.",
    labels: ["request_kind"],
  });
  readonly #streams = gauge({
    name: "apiserver_longrunning_requests",
    help: "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.",
    labels: ["component", ...about],
  });
  readonly #events = counter({
    name: "apiserver_watch_events_total",
    help: "[ALPHA] Number of events sent in watch clients",
    labels: ["group", "resource", "version"],
  });
  readonly #eventSizes = histogram(
    {
      name: "apiserver_watch_events_sizes",
      help: "[ALPHA] Watch event size distribution in bytes",
      labels: ["group", "resource", "version"],
    },
    eventBounds,
  );
  readonly #writes = this.#running.of("mutating");
  readonly #reads = this.#running.of("readOnly");
  readonly families: readonly Rendered[] = [
    this.#running,
    this.#streams,
    this.#durations,
    this.#indicators,
    this.#total,
    this.#sizes,
    this.#eventSizes,
    this.#events,
  ];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request has come. Tell what it is about, once that is known, and how it ended. */
  begin(): RequestMeasure {
    return new RequestMeasure(this, this.#clock);
  }

  /** @internal */
  running(verb: string): Value {
    return writing.has(verb) ? this.#writes : this.#reads;
  }

  /** @internal */
  ended(labels: RequestLabels, response: ApiResponse, seconds: number): void {
    const measured = this.#of(labels);
    let code = measured.codes.get(response.status);
    if (!code) {
      code = this.#total.of(String(response.status), "apiserver", labels.dryRun ?? "", ...values(labels));
      measured.codes.set(response.status, code);
    }
    code.add();
    measured.duration.observe(seconds);
    const { body } = response;
    if (typeof body === "function") return;
    measured.indicator.observe(seconds);
    measured.sizes.observe(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength);
  }

  /** @internal The same stream, counted for as long as it goes on. */
  stream(labels: RequestLabels, body: Streaming): Streaming {
    const open = this.#streams.of("apiserver", ...values(labels));
    const of = [labels.group, labels.resource, labels.version] as const;
    return (sink) => {
      open.add();
      let isOpen = true;
      const close = () => {
        if (isOpen) open.add(-1);
        isOpen = false;
      };
      const events = labels.verb === "WATCH" ? this.#events.of(...of) : undefined;
      const sizes = labels.verb === "WATCH" ? this.#eventSizes.of(...of) : undefined;
      const counted: Sink = {
        write: (chunk) => {
          events?.add();
          sizes?.observe(chunk.byteLength);
          return sink.write(chunk);
        },
        drained: (listener) => sink.drained(listener),
        end: () => {
          close();
          sink.end();
        },
      };
      const stop = body(counted);
      return () => {
        close();
        stop();
      };
    };
  }

  #of(labels: RequestLabels): Measured {
    const list = values(labels);
    const { dryRun = "" } = labels;
    const key = `${dryRun}\0${list.join("\0")}`;
    let found = this.#measured.get(key);
    if (!found) {
      found = {
        codes: new Map(),
        duration: this.#durations.of("apiserver", dryRun, ...list),
        indicator: this.#indicators.of("apiserver", ...list),
        sizes: this.#sizes.of("apiserver", ...list),
      };
      this.#measured.set(key, found);
    }
    return found;
  }
}

/**
 * One request on its way. What never says what it is about, because nothing is there or it is
 * forbidden, is not counted.
 */
export class RequestMeasure {
  readonly #metrics: RequestMetrics;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #labels: RequestLabels | undefined;

  constructor(metrics: RequestMetrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  is(labels: RequestLabels): void {
    this.#labels = labels;
    this.#metrics.running(labels.verb).add();
  }

  /** @returns the answer to send */
  end(response: ApiResponse): ApiResponse {
    const labels = this.#labels;
    if (!labels) return response;
    this.#metrics.running(labels.verb).add(-1);
    this.#metrics.ended(labels, response, (this.#clock.monotonic() - this.#startedAt) / 1000);
    const { body } = response;
    return typeof body === "function" ? { ...response, body: this.#metrics.stream(labels, body) } : response;
  }
}

function values({ group, resource, scope, subresource, verb, version }: RequestLabels): string[] {
  return [group, resource, scope, subresource, verb, version];
}
