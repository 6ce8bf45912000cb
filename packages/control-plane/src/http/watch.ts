import { type JsonObject, stringify, textOf } from "../json.ts";
import { objectsAt } from "../json-fields.ts";
import { definitionsBucket } from "../registry/definitions.ts";
import type { Resource } from "../registry/resource.ts";
import { StatusError } from "../status.ts";
import { TurnBudget } from "../steps.ts";
import { CompactedError, type Entry, type LogRecord, type Store } from "../storage/store.ts";
import type { ListOptions } from "./list-options.ts";
import type { Representation } from "./negotiate.ts";
import { awaitRevision, type ReadDependencies } from "./read.ts";
import { type ProtobufForm, protobufForm } from "./representation.ts";
import type { ApiResponse, Sink } from "./request.ts";
import type { ObjectEvent, WatchEvent } from "./shared-events.ts";
import { EventWriter } from "./watch-events.ts";

/** A client with this much unsent data gets no more until it was sent. */
const mostWaiting = 1024 * 1024;
/** So many events of a backlog are written before others get their turn. */
const eventsPerTurn = 500;
/** Clients assume that a stream without any event is dead. */
const bookmarkEveryMs = 60_000;

/**
 * Streams changes. The initial state is read when the request arrives, not when the first byte is
 * read, so no change is lost in between.
 */
export function watch(
  deps: ReadDependencies,
  resource: Resource,
  namespace: string | undefined,
  options: ListOptions,
  as: Representation,
): ApiResponse | Promise<ApiResponse> {
  const headers = { "cache-control": "no-cache, private", "content-type": watchType(as) };
  const open = (protobuf?: ProtobufForm): ApiResponse => ({
    status: 200,
    headers,
    body: (sink) => {
      const writer = new EventWriter(deps, resource, as, protobuf);
      return new Watch(deps, resource, namespace, options, writer, sink).start();
    },
  });
  return as.encoding === "protobuf" ? protobufForm().then(open) : open();
}

function watchType(as: Representation): string {
  if (as.encoding === "protobuf") return "application/vnd.kubernetes.protobuf;stream=watch";
  return "application/json";
}

/**
 * One watcher. It gets changes as they happen while it keeps up. At the start, and when it is slow,
 * it has a backlog, which is sent with back-pressure: nothing is buffered for it but its position
 * in the store's history. If that part of the history is compacted meanwhile, the watch ends, and
 * the client has to list again.
 */
class Watch {
  readonly #deps: ReadDependencies;
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #prefix: string;
  readonly #options: ListOptions;
  readonly #writer: EventWriter;
  readonly #sink: Sink;
  readonly #stops: (() => void)[] = [];
  /** All changes up to this revision were sent, or do not match the watch. */
  #position = 0;
  readonly #budget = new TurnBudget(eventsPerTurn);
  /** Events to send before live changes; undefined while there are none. */
  #backlog: Generator<WatchEvent> | undefined;
  #stopped = false;

  constructor(
    deps: ReadDependencies,
    resource: Resource,
    namespace: string | undefined,
    options: ListOptions,
    writer: EventWriter,
    sink: Sink,
  ) {
    this.#deps = deps;
    this.#store = deps.registry.store;
    this.#resource = resource;
    this.#prefix = namespace === undefined ? "" : `${namespace}/`;
    this.#options = options;
    this.#writer = writer;
    this.#sink = sink;
  }

  start(): () => void {
    const { resourceVersion, sendInitialEvents, timeoutSeconds = 0 } = this.#options;
    if (timeoutSeconds < 0) {
      this.#fail(
        new StatusError({ code: 500, reason: "InternalError", message: "context deadline exceeded" }),
      );
      return () => undefined;
    }
    if (sendInitialEvents && resourceVersion !== undefined && resourceVersion > this.#store.revision) {
      // The state that was asked for is in the future.
      awaitRevision(this.#deps.registry, resourceVersion)
        .then(() => this.#stopped || this.#begin())
        .catch((error: unknown) => this.#failBy(error));
      return () => this.#stop();
    }
    return this.#begin();
  }

  #begin(): () => void {
    const { resourceVersion, sendInitialEvents } = this.#options;
    try {
      this.#backlog =
        sendInitialEvents || resourceVersion === undefined || resourceVersion === 0
          ? this.#initial()
          : this.#after(resourceVersion);
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      const message = `too old resource version: ${resourceVersion} (${error.compacted})`;
      this.#fail(new StatusError({ code: 410, reason: "Expired", message }));
      return () => undefined;
    }
    this.#stops.push(this.#store.subscribe(this.#resource.bucket, (record) => this.#onRecord(record)));
    if (this.#resource.info.origin === "custom")
      this.#stops.push(this.#store.subscribe(definitionsBucket, (record) => this.#onDefinition(record)));
    this.#scheduleEnd();
    this.#work();
    return () => this.#stop();
  }

  /** The current state, then the changes. */
  #initial(): Generator<WatchEvent> {
    const { sendInitialEvents, allowBookmarks } = this.#options;
    const { entries, revision } = this.#store.list(this.#resource.bucket, { prefix: this.#prefix });
    this.#position = revision;
    const isTold = sendInitialEvents !== false;
    const initialEnd = sendInitialEvents === true && allowBookmarks;
    const matching = isTold ? entries.values().filter((entry) => this.#matches(entry)) : [];
    return (function* (rest: Iterable<WatchEvent>): Generator<WatchEvent> {
      for (const entry of matching) yield { type: "ADDED", entry };
      if (initialEnd) yield { type: "BOOKMARK", revision, initialEnd };
      yield* rest;
    })(this.#changes());
  }

  /** What changed after a revision. @throws CompactedError */
  #after(revision: number): Generator<WatchEvent> {
    this.#store.since(this.#resource.bucket, revision);
    this.#position = revision;
    return this.#changes();
  }

  /**
   * What changed after `#position`, up to the moment when the last of it is taken.
   *
   * @throws CompactedError
   */
  *#changes(): Generator<WatchEvent> {
    const recent = () => this.#store.since(this.#resource.bucket, this.#position);
    for (let records = recent(); records.length > 0; records = recent()) {
      for (const record of records) {
        this.#position = record.revision;
        const event = this.#eventOf(record);
        if (event) yield event;
      }
    }
  }

  #onRecord(record: LogRecord): void {
    // A watcher with a backlog reads the record from the history later.
    if (this.#backlog) return;
    this.#position = record.revision;
    const event = this.#eventOf(record);
    if (event) this.#send(event);
  }

  #eventOf(record: LogRecord): ObjectEvent | undefined {
    if (this.#prefix !== "" && !record.key.startsWith(this.#prefix)) return undefined;
    const now = record.type !== "DELETED" && this.#matches(record.entry);
    const before = record.previous !== undefined && this.#matches(record.previous);
    if (now) return { type: before ? "MODIFIED" : "ADDED", entry: record.entry };
    return before ? { type: "DELETED", entry: lastSeen(record) } : undefined;
  }

  #matches(entry: Entry): boolean {
    return this.#options.matches?.(entry.object) ?? true;
  }

  /** A watch ends when its version is no longer served, after the last deletions were sent. */
  #onDefinition({ type, key, entry }: LogRecord): void {
    if (key !== this.#resource.bucket) return;
    if (type !== "DELETED" && isServed(entry.object, this.#resource.info.version)) return;
    const backlog = this.#backlog;
    this.#backlog = this.#last(backlog);
    if (!backlog) this.#work();
  }

  *#last(backlog: Iterable<WatchEvent> = []): Generator<WatchEvent> {
    yield* backlog;
    this.#finish();
  }

  /** Sends the backlog until it is empty, the client has to catch up, or others want their turn. */
  #work(): void {
    while (!this.#stopped && this.#backlog) {
      if (this.#budget.spend(1)) {
        setImmediate(() => this.#work());
        return;
      }
      const event = this.#next(this.#backlog);
      if (!event) this.#backlog = undefined;
      else if (this.#send(event) === "waits") return;
    }
  }

  #next(backlog: Generator<WatchEvent>): WatchEvent | undefined {
    try {
      const { done, value } = backlog.next();
      return done ? undefined : value;
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      // Too slow: the watch ends, and the client finds out by listing again, as with the real
      // server.
      this.#finish();
      return undefined;
    }
  }

  /** @returns whether the next event has to wait for `#work` to resume */
  #send(event: WatchEvent): "sent" | "waits" {
    const bytes = this.#writer.write(event);
    if (bytes instanceof Uint8Array) return this.#write(bytes);
    this.#backlog ??= this.#changes();
    bytes
      .then((made) => this.#stopped || this.#write(made) === "waits" || this.#work())
      .catch((error: unknown) => this.#failBy(error));
    return "waits";
  }

  #write(bytes: Uint8Array): "sent" | "waits" {
    if (this.#sink.write(bytes) <= mostWaiting) return "sent";
    this.#backlog ??= this.#changes();
    this.#sink.drained(() => this.#work());
    return "waits";
  }

  #scheduleEnd(): void {
    const { clock, random } = this.#deps.registry;
    const { timeoutSeconds, allowBookmarks } = this.#options;
    const minutes = 30 + 30 * random.next();
    const lastsMs = timeoutSeconds ? timeoutSeconds * 1_000 : minutes * 60_000;
    this.#stops.push(clock.schedule(lastsMs, () => this.#finish()));
    if (!allowBookmarks) return;
    this.#scheduleBookmarks();
    if (lastsMs > 2_000) this.#stops.push(clock.schedule(lastsMs - 2_000, () => this.#bookmark()));
  }

  #scheduleBookmarks(): void {
    const { clock } = this.#deps.registry;
    let cancel: () => void = () => undefined;
    const next = () => {
      cancel = clock.schedule(bookmarkEveryMs, () => {
        this.#bookmark();
        next();
      });
    };
    next();
    this.#stops.push(() => cancel());
  }

  #bookmark(): void {
    if (this.#stopped || this.#backlog) return;
    this.#position = this.#store.revision;
    this.#send({ type: "BOOKMARK", revision: this.#position, initialEnd: false });
  }

  #failBy(error: unknown): void {
    const isStatus = error instanceof StatusError;
    const message = String(error);
    this.#fail(isStatus ? error : new StatusError({ code: 500, reason: "InternalError", message }));
  }

  #fail(error: StatusError): void {
    if (this.#stopped) return;
    this.#sink.write(this.#writer.failure(error));
    this.#finish();
  }

  #finish(): void {
    if (this.#stopped) return;
    this.#stop();
    this.#sink.end();
  }

  #stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
  }
}

function isServed(definition: JsonObject, version: string): boolean {
  return objectsAt(definition, "spec", "versions").some(
    ({ name, served }) => name === version && served === true,
  );
}

/**
 * The object of the DELETED event for an object that no longer matches: its old content with the
 * new resourceVersion.
 */
function lastSeen(record: LogRecord): Entry {
  if (record.type === "DELETED" || !record.previous) return record.entry;
  const { object } = record.previous;
  const metadata = { ...object.metadata, resourceVersion: textOf(record.revision) };
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return {
    key: record.key,
    revision: record.revision,
    object: { ...object, metadata },
    json: stringify({ ...rest, metadata }),
  };
}
