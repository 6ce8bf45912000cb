import { type JsonObject, textOf } from "../json.ts";
import { normalize } from "../kinds/index.ts";
import { definitionsBucket } from "../registry/definitions.ts";
import type { Resource } from "../registry/resource.ts";
import { StatusError } from "../status.ts";
import { CompactedError, type Entry, type LogRecord } from "../storage/store.ts";
import type { ListOptions } from "./list-options.ts";
import type { Representation } from "./negotiate.ts";
import type { ReadDependencies } from "./read.ts";
import { entryText, objectText, type ProtobufForm, partialMetadata, protobufForm } from "./representation.ts";
import type { ApiResponse, Sink } from "./request.ts";

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

/** A client that lets this much pile up is cut off, as the real server does: it will list again. */
const mostWaiting = 64 * 1024 * 1024;
const bookmarkEveryMs = 60_000;

/**
 * Streams changes. What is known at the start is decided when the request arrives, not when the first byte is read, so no
 * change falls between the two.
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
    body: (sink) => new Watch(deps, resource, namespace, options, as, protobuf, sink).start(),
  });
  return as.encoding === "protobuf" ? protobufForm().then(open) : open();
}

function watchType(as: Representation): string {
  if (as.encoding === "protobuf") return "application/vnd.kubernetes.protobuf;stream=watch";
  return "application/json";
}

class Watch {
  readonly #deps: ReadDependencies;
  readonly #resource: Resource;
  readonly #prefix: string;
  readonly #options: ListOptions;
  readonly #as: Representation;
  /** Present where events go out as protobuf. */
  readonly #protobuf: ProtobufForm | undefined;
  readonly #sink: Sink;
  readonly #stops: (() => void)[] = [];
  #stopped = false;
  #sentRevision = 0;
  /** What must be sent one after the other when making an event takes a while (tables, conversions). */
  #pending: Promise<void> = Promise.resolve();
  #firstTable = true;

  constructor(
    deps: ReadDependencies,
    resource: Resource,
    namespace: string | undefined,
    options: ListOptions,
    as: Representation,
    protobuf: ProtobufForm | undefined,
    sink: Sink,
  ) {
    this.#deps = deps;
    this.#resource = resource;
    this.#prefix = namespace === undefined ? "" : `${namespace}/`;
    this.#options = options;
    this.#as = as;
    this.#protobuf = protobuf;
    this.#sink = sink;
  }

  start(): () => void {
    const { store, clock } = this.#deps.registry;
    const { resourceVersion, sendInitialEvents, timeoutSeconds, allowBookmarks } = this.#options;
    const fromNow = sendInitialEvents || resourceVersion === undefined || resourceVersion === 0;
    try {
      if (fromNow) {
        const { entries, revision } = store.list(this.#resource.bucket, { prefix: this.#prefix });
        for (const entry of sendInitialEvents === false ? [] : entries) {
          if (this.#matches(entry)) this.#send("ADDED", entry, revision);
        }
        this.#sentRevision = revision;
        if (sendInitialEvents && allowBookmarks) this.#bookmark(true);
      } else {
        this.#sentRevision = resourceVersion;
        for (const record of store.since(this.#resource.bucket, resourceVersion)) this.#onRecord(record);
      }
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.#fail(
        new StatusError({
          code: 410,
          reason: "Expired",
          message: `too old resource version: ${resourceVersion} (${error.compacted})`,
        }),
      );
      return () => undefined;
    }
    this.#stops.push(store.subscribe(this.#resource.bucket, (record) => this.#onRecord(record)));
    if (this.#resource.info.origin === "custom")
      this.#stops.push(store.subscribe(definitionsBucket, (record) => this.#onDefinition(record)));
    const minutes = 30 + 30 * this.#deps.registry.random.next();
    const lastsMs = timeoutSeconds ? timeoutSeconds * 1_000 : minutes * 60_000;
    this.#stops.push(clock.schedule(lastsMs, () => this.#finish()));
    if (allowBookmarks) {
      this.#scheduleBookmarks();
      if (lastsMs > 2_000) this.#stops.push(clock.schedule(lastsMs - 2_000, () => this.#bookmark(false)));
    }
    return () => this.#stop();
  }

  #onRecord(record: LogRecord): void {
    if (this.#stopped || (this.#prefix !== "" && !record.key.startsWith(this.#prefix))) return;
    const now = record.type !== "DELETED" && this.#matches(record.entry);
    const before = record.previous !== undefined && this.#matches(record.previous);
    if (now) this.#send(before ? "MODIFIED" : "ADDED", record.entry, record.revision);
    else if (before) this.#send("DELETED", this.#goodbye(record), record.revision);
  }

  /** A kind that is no longer served is no longer watched either, once its last objects have been told of. */
  #onDefinition({ type, key }: LogRecord): void {
    if (type === "DELETED" && key === this.#resource.bucket) void this.#pending.then(() => this.#finish());
  }

  /** The state with which an object leaves a watcher's sight: its old content under the new version. */
  #goodbye(record: LogRecord): Entry {
    if (record.type === "DELETED" || !record.previous) return record.entry;
    const { object } = record.previous;
    const metadata = { ...object.metadata, resourceVersion: textOf(record.revision) };
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    return {
      key: record.key,
      revision: record.revision,
      object: { ...object, metadata },
      json: JSON.stringify({ ...rest, metadata }),
    };
  }

  #matches(entry: Entry): boolean {
    return this.#options.matches?.(entry.object) ?? true;
  }

  #send(type: EventType, entry: Entry, revision: number): void {
    this.#sentRevision = revision;
    if (this.#as.as === "object" && !this.#resource.conversion) {
      this.#write(sharedEvent(this.#resource, type, entry, this.#protobuf));
      return;
    }
    this.#later(async () => {
      const object = await this.#deps.registry.fromStorage(this.#resource, entry.object);
      this.#write(
        this.#protobuf
          ? this.#protobuf.frame(type, this.#protobufShape(this.#protobuf, object))
          : eventBytes(type, await this.#shape(object)),
      );
    });
  }

  #protobufShape(protobuf: ProtobufForm, object: JsonObject): Uint8Array {
    return this.#as.as === "metadata" ? protobuf.metadata(object) : protobuf.object(this.#resource, object);
  }

  async #shape(object: JsonObject): Promise<string> {
    switch (this.#as.as) {
      case "object":
        return objectText(this.#resource, object);
      case "metadata":
        return JSON.stringify(partialMetadata(object));
      case "table": {
        const listMetadata = {
          resourceVersion: textOf((object.metadata as JsonObject).resourceVersion),
        };
        const columns = this.#firstTable ? "all" : "none";
        const options = {
          listMetadata,
          includeObject: "Metadata",
          version: this.#as.version,
          columns,
        } as const;
        this.#firstTable = false;
        return JSON.stringify(await this.#deps.table(this.#resource, [object], options));
      }
    }
  }

  #later(task: () => Promise<void>): void {
    this.#pending = this.#pending.then(async () => {
      if (this.#stopped) return;
      try {
        await task();
      } catch (error) {
        this.#fail(
          error instanceof StatusError
            ? error
            : new StatusError({ code: 500, reason: "InternalError", message: String(error) }),
        );
      }
    });
  }

  #bookmark(initialEnd: boolean): void {
    const { store } = this.#deps.registry;
    if (!initialEnd && store.revision === this.#sentRevision) return;
    this.#sentRevision = store.revision;
    const { info } = this.#resource;
    const metadata: JsonObject = { resourceVersion: textOf(store.revision) };
    if (initialEnd) metadata.annotations = { "k8s.io/initial-events-end": "true" };
    const empty: JsonObject = {
      kind: info.kind,
      apiVersion: info.group === "" ? info.version : `${info.group}/${info.version}`,
      metadata,
    };
    const object = info.origin === "builtin" ? normalize(info, empty) : empty;
    // The internal form has no way to leave the replicas of these out.
    if (info.group === "apps" && this.#resource.scale)
      object.spec = { replicas: 0, ...(object.spec as JsonObject) };
    const protobuf = this.#protobuf;
    if (this.#as.as === "object" && !this.#resource.conversion) {
      this.#write(
        protobuf
          ? protobuf.frame("BOOKMARK", this.#protobufShape(protobuf, object))
          : eventBytes("BOOKMARK", objectText(this.#resource, object)),
      );
      return;
    }
    this.#later(async () => {
      this.#write(
        protobuf
          ? protobuf.frame("BOOKMARK", this.#protobufShape(protobuf, object))
          : eventBytes("BOOKMARK", await this.#shape(object)),
      );
    });
  }

  #scheduleBookmarks(): void {
    const { clock } = this.#deps.registry;
    let cancel: () => void = () => undefined;
    const next = () => {
      cancel = clock.schedule(bookmarkEveryMs, () => {
        this.#bookmark(false);
        next();
      });
    };
    next();
    this.#stops.push(() => cancel());
  }

  #write(bytes: Uint8Array): void {
    if (this.#stopped) return;
    if (this.#sink.write(bytes) > mostWaiting) this.#finish();
  }

  #fail(error: StatusError): void {
    const status = error.toStatus();
    this.#write(
      this.#protobuf
        ? this.#protobuf.frame("ERROR", this.#protobuf.plain(status))
        : eventBytes("ERROR", JSON.stringify(status)),
    );
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

function eventBytes(type: EventType | "ERROR", object: string): Uint8Array {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}

/** Every watcher that sees an event sees the same bytes, one watcher right after the other: they are made once and kept until the next event. */
const shared: { entry: Entry | undefined; bytes: Map<string, Uint8Array> } = {
  entry: undefined,
  bytes: new Map(),
};

function sharedEvent(
  resource: Resource,
  type: EventType,
  entry: Entry,
  protobuf: ProtobufForm | undefined,
): Uint8Array {
  if (shared.entry !== entry) {
    shared.entry = entry;
    shared.bytes.clear();
  }
  const key = `${type} ${resource.info.version} ${resource.info.group} ${protobuf ? "protobuf" : "json"}`;
  let bytes = shared.bytes.get(key);
  if (!bytes) {
    bytes = protobuf
      ? protobuf.frame(type, protobuf.object(resource, entry.object))
      : eventBytes(type, entryText(resource, entry));
    shared.bytes.set(key, bytes);
  }
  return bytes;
}
