import {
  type AnyKind,
  apiVersionOf,
  deniedAccess,
  isInvalid,
  isNotFound,
  type KubernetesObject,
  type ResourceKind,
  type Writer,
} from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import { countOf, type LogDecision, LogThrottle } from "../logging/log-throttle.ts";
import type { Logger } from "../logging/logger.ts";
import { microTimestamp } from "./condition.ts";
import { messageOf } from "./errors.ts";

/** Something that happened, for people: `kubectl events` and `kubectl describe` show it. */
export interface EventInput {
  /** @default "Normal" */
  readonly type?: "Normal" | "Warning";
  /** One CamelCase word: why. */
  readonly reason: string;
  /** A sentence. Cut at 1,024 bytes. */
  readonly message: string;
  /** What was being done. @default "Reconcile" */
  readonly action?: string;
}

/** Records events about one object. Never throws and never waits: an event is a courtesy. */
export interface EventRecorder {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
  record(event: EventInput): void;
}

/** What recording events needs. */
export interface EventsOptions {
  readonly client: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Which process reports, e.g. the pod's name. */
  readonly instance: string;
}

interface Series {
  readonly key: { readonly namespace: string; readonly name: string };
  count: number;
  written: number;
  writtenMs: number;
  lastMs: number;
  /** The writes of one event follow each other. */
  pending: Promise<void>;
  cancel: () => void;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const seriesWindowMs = 6 * 60_000;
const refreshMs = 30 * 60_000;
const burst = 25;
const refillMs = 5 * 60_000;
/** In bytes, as the server counts. */
const longestNote = 1024;
const longestWord = 128;
/** Above this number of objects, those that have their events again are forgotten. */
const manyObjects = 4096;

const EventKind: ResourceKind = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
};

/**
 * Writes events (`events.k8s.io/v1`).
 *
 * - The same event within six minutes of the last is one series: its second occurrence is written
 *   at once, later ones are counted and written when the series ends, and every half hour while it
 *   goes on: the server forgets events that are an hour old.
 * - Each object may cause 25 events at once and one more every five minutes; what exceeds that is
 *   dropped.
 * - A failing API server costs events, never a reconcile.
 */
export class Events {
  readonly #options: EventsOptions;
  readonly #series = new Map<string, Series>();
  readonly #buckets = new Map<string, Bucket>();
  #mostBuckets = manyObjects;
  /** Those that have not ended, or not begun. */
  readonly #writes = new Set<Promise<void>>();
  readonly #throttle: LogThrottle;
  #isClosed = false;

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#throttle = new LogThrottle(options.clock);
  }

  /** A recorder for one object. `controller` is who reports. */
  about(kind: AnyKind, object: KubernetesObject, controller: string): EventRecorder {
    const record = (event: EventInput) => this.#record(kind, object, controller, event);
    return {
      normal: (reason, message) => record({ reason, message }),
      warning: (reason, message) => record({ type: "Warning", reason, message }),
      record,
    };
  }

  /** Writes the counts of series under way, and waits for all writes. */
  async flush(): Promise<void> {
    const open = [...this.#series.keys()];
    for (const id of open) this.#end(id);
    await Promise.all(this.#writes);
  }

  /**
   * Flushes, and records nothing any more: what comes later would wait for a series that nobody
   * ends.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  #record(kind: AnyKind, object: KubernetesObject, controller: string, event: EventInput): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const { uid = "", name, namespace } = object.metadata;
    const type = event.type ?? "Normal";
    const note = shortened(event.message, longestNote);
    const id = [controller, uid, name, type, event.reason, event.action ?? "", note].join("\u0000");
    const now = clock.now();
    const series = this.#series.get(id);
    if (series) {
      series.count += 1;
      series.lastMs = now;
      series.cancel();
      series.cancel = clock.schedule(seriesWindowMs, () => this.#end(id));
      if (series.count === 2 || now - series.writtenMs >= refreshMs) this.#writeSeries(series);
      return;
    }
    if (!this.#allowed(uid || `${namespace}/${name}`)) return;
    const place = { namespace: namespace ?? "default", name: this.#name(name) };
    const body = {
      apiVersion: apiVersionOf(EventKind),
      kind: EventKind.kind,
      metadata: place,
      eventTime: microTimestamp(now),
      reportingController: controller,
      reportingInstance: shortened(this.#options.instance, longestWord),
      action: shortened(event.action ?? "Reconcile", longestWord),
      reason: shortened(event.reason, longestWord),
      regarding: {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === "" ? {} : { uid }),
        ...(object.metadata.resourceVersion ? { resourceVersion: object.metadata.resourceVersion } : {}),
      },
      note,
      type,
    };
    this.#series.set(id, {
      key: place,
      count: 1,
      written: 1,
      writtenMs: now,
      lastMs: now,
      pending: this.#track(
        this.#send(`event ${event.reason}`, () => this.#options.client.create(EventKind, body)),
      ),
      cancel: clock.schedule(seriesWindowMs, () => this.#end(id)),
    });
  }

  #writeSeries(series: Series): void {
    const { client } = this.#options;
    const { key, count, lastMs } = series;
    series.written = count;
    series.writtenMs = lastMs;
    const patch = { series: { count, lastObservedTime: microTimestamp(lastMs) } };
    const what = `series of event ${key.name}`;
    series.pending = this.#track(
      series.pending.then(() =>
        this.#send(what, () => client.patch(EventKind, key, { type: "merge", patch })),
      ),
    );
  }

  #end(id: string): void {
    const series = this.#series.get(id);
    if (!series) return;
    this.#series.delete(id);
    series.cancel();
    if (series.count > series.written) this.#writeSeries(series);
  }

  /** Never rejects. */
  async #send(what: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // The namespace is going, or the event has expired meanwhile.
      if (!isNotFound(error)) this.#tell(what, error);
    }
  }

  #track(write: Promise<void>): Promise<void> {
    this.#writes.add(write);
    void write.then(() => this.#writes.delete(write));
    return write;
  }

  /**
   * Other failures are not worth a line, but a missing right is there to stay, and so is what makes
   * an event invalid.
   */
  #tell(what: string, error: unknown): void {
    const { log } = this.#options;
    const right = deniedAccess(error);
    const cause = right?.verb ?? (isInvalid(error) ? what : undefined);
    const decision: LogDecision = cause === undefined ? { as: "suppressed" } : this.#throttle.record(cause);
    if (decision.as === "suppressed") log.debug({ error: messageOf(error) }, `${what} was not written`);
    else
      log.warn(
        { error: messageOf(error), ...countOf(decision) },
        right
          ? "events cannot be written for lack of a right; going on without them"
          : `${what} is not valid, and was not written`,
      );
  }

  #allowed(object: string): boolean {
    const now = this.#options.clock.monotonic();
    const bucket = this.#buckets.get(object) ?? { tokens: burst, atMs: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.atMs) / refillMs);
    const isAllowed = tokens >= 1;
    this.#buckets.set(object, { tokens: isAllowed ? tokens - 1 : tokens, atMs: now });
    if (this.#buckets.size > this.#mostBuckets) this.#forgetFull(now);
    return isAllowed;
  }

  #forgetFull(now: number): void {
    for (const [object, { tokens, atMs }] of this.#buckets)
      if (tokens + (now - atMs) / refillMs >= burst - 1) this.#buckets.delete(object);
    // Those that are left are not scanned again with each event.
    this.#mostBuckets = Math.max(manyObjects, 2 * this.#buckets.size);
  }

  #name(object: string): string {
    const suffix = Buffer.from(this.#options.random.bytes(8)).toString("hex");
    return `${object.slice(0, 230)}.${suffix}`;
  }
}

/** The beginning of a text, as whole characters that take no more than so many bytes. */
function shortened(text: string, longest: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longest) return text;
  // A stream that goes on gives no character before it is whole.
  return new TextDecoder().decode(bytes.subarray(0, longest), { stream: true });
}
