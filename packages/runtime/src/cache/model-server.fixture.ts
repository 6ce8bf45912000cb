import {
  type AnyKind,
  type AnyObject,
  ApiError,
  type ListOptions,
  matchesSelector,
  parseSelector,
  TransportError,
  type WatchOptions,
} from "@windlass/client";
import type { ListWatcher } from "./list-watcher.ts";
import { parseFields } from "./selector.ts";

type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

interface Change {
  readonly revision: number;
  readonly before: AnyObject | undefined;
  readonly after: AnyObject | undefined;
}

/** One open watch: what is to be sent, and how it ends. */
interface Connection {
  readonly lines: string[];
  readonly kind: AnyKind;
  readonly options: WatchOptions;
  end: "open" | "closed" | Error;
  wake: () => void;
}

/**
 * The list and watch of an API server for one kind, small enough to be sure of, with the faults of
 * a real one on request. For tests of the cache.
 */
export class ModelServer implements ListWatcher {
  readonly objects = new Map<string, AnyObject>();
  /** What was asked for, in order, e.g. `list`, `stream` or `watch 103`. */
  readonly requests: string[] = [];
  /**
   * Whether it streams initial objects, refuses to, or takes the request and never says when they
   * are complete.
   */
  streaming: "yes" | "refuses" | "never ends" = "yes";
  isInstalled = true;
  /**
   * How many revisions a list may be behind that does not ask for the present state: it is served
   * from the server's own cache.
   */
  behind = 0;
  /** Errors for the next requests, one each. */
  readonly faults: Error[] = [];
  #revision = 100;
  #uid = 0;
  #changes: Change[] = [];
  #oldest = 0;
  /** All that ever happened, for {@link restore}. */
  #log: Change[] = [];
  readonly #connections = new Set<Connection>();

  get revision(): string {
    return String(this.#revision);
  }

  get watches(): number {
    return this.#connections.size;
  }

  /** Creates or changes an object. */
  put(namespace: string, name: string, fields: Partial<AnyObject> = {}, metadata: object = {}): AnyObject {
    const before = this.objects.get(`${namespace}/${name}`);
    const revision = ++this.#revision;
    const after: AnyObject = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      ...fields,
      metadata: {
        ...metadata,
        name,
        ...(namespace === "" ? {} : { namespace }),
        uid: before?.metadata.uid ?? `uid-${++this.#uid}`,
        resourceVersion: String(revision),
        managedFields: [{ manager: "model", fieldsV1: { "f:spec": {} } }],
      },
    };
    this.objects.set(`${namespace}/${name}`, after);
    this.#publish({ revision, before, after });
    return after;
  }

  remove(namespace: string, name: string): AnyObject | undefined {
    const key = `${namespace}/${name}`;
    const before = this.objects.get(key);
    if (!before) return undefined;
    this.objects.delete(key);
    this.#publish({ revision: ++this.#revision, before, after: undefined });
    return before;
  }

  /** Something happens to another kind. */
  tick(): void {
    this.#revision += 1;
  }

  /** Sends the present revision to every watch that does not wait for a later one. */
  bookmark(): void {
    for (const connection of this.#connections)
      if (connection.options.allowWatchBookmarks && !this.#isFuture(connection.options))
        send(connection, "BOOKMARK", bookmark(this.#revision));
  }

  /** Sends the last change once more, as a resumed watch may. */
  repeat(): void {
    const last = this.#changes.at(-1);
    if (!last) return;
    for (const connection of this.#connections) this.#send(connection, last);
  }

  /** Sends a state of an object as it is given, whatever the server's own is. */
  replay(type: ChangeType, object: AnyObject | undefined): void {
    for (const connection of this.#connections) send(connection, type, object);
  }

  /** Forgets the past: what resumes from before now gets 410. */
  compact(): void {
    this.#changes = [];
    this.#oldest = this.#revision;
  }

  /**
   * Goes back to what it had at an earlier revision, as when a backup of its data is put back, and
   * starts over from there.
   */
  restore(revision: number): void {
    this.#revision = revision;
    this.#log = this.#log.filter((change) => change.revision <= revision);
    this.objects.clear();
    for (const [key, object] of this.#stateAt(revision)) this.objects.set(key, object);
    this.compact();
    this.cut();
  }

  /** Ends all watches cleanly. */
  close(): void {
    this.#endAll("closed");
  }

  /** Cuts all connections. */
  cut(): void {
    this.#endAll(new TransportError("CONNECTION_RESET", "the connection was reset"));
  }

  /** Ends all watches with an ERROR event. */
  fail(status: { readonly code: number; readonly reason: string }): void {
    for (const connection of this.#connections)
      send(connection, "ERROR", { kind: "Status", status: "Failure", message: status.reason, ...status });
    this.#endAll("closed");
  }

  /** Loses all watches without a word, as when a cable is pulled. */
  pullCable(): void {
    this.#connections.clear();
  }

  async *listBytes(kind: AnyKind, options: ListOptions = {}): AsyncGenerator<Uint8Array> {
    this.#enter(options.continue === undefined ? "list" : "page");
    if (this.#isFuture(options)) throw new ApiError(tooLarge);
    const [from = 0, at = this.#listed(options)] = (options.continue ?? "")
      .split("@")
      .filter(Boolean)
      .map(Number);
    const all = [...this.#stateAt(at).values()].filter((object) => selects(options, object));
    const limit = options.limit ?? all.length;
    if (options.continue !== undefined && at < this.#oldest) throw gone();
    const items = all
      .slice(from, from + limit)
      .map((object) => ({ ...asAskedFor(kind, object), apiVersion: undefined, kind: undefined }));
    const next = from + limit < all.length ? `${from + limit}@${at}` : undefined;
    const metadata = { resourceVersion: String(at), ...(next === undefined ? {} : { continue: next }) };
    yield Buffer.from(JSON.stringify({ kind: "WidgetList", metadata, items }));
  }

  async *watchLines(kind: AnyKind, options: WatchOptions = {}): AsyncGenerator<Buffer> {
    const { resourceVersion = "", sendInitialEvents, signal } = options;
    this.#enter(sendInitialEvents ? "stream" : `watch ${resourceVersion}`);
    if (sendInitialEvents && this.streaming === "refuses")
      throw new ApiError({
        kind: "Status",
        code: 422,
        reason: "Invalid",
        message: "sendInitialEvents is forbidden",
      });
    const from = Number(resourceVersion);
    const connection: Connection = { lines: [], kind, options, end: "open", wake: () => undefined };
    if (sendInitialEvents && this.#isFuture(options)) {
      send(connection, "ERROR", tooLarge);
      connection.end = "closed";
    } else if (sendInitialEvents || resourceVersion === "") {
      const at = this.#listed(options);
      for (const object of this.#stateAt(at).values())
        if (selects(options, object)) send(connection, "ADDED", asAskedFor(kind, object));
      if (sendInitialEvents && this.streaming === "yes")
        send(connection, "BOOKMARK", bookmark(at, { "k8s.io/initial-events-end": "true" }));
      for (const change of this.#changes) if (change.revision > at) this.#send(connection, change);
    } else if (from < this.#oldest) {
      const message = "too old resource version";
      send(connection, "ERROR", { kind: "Status", code: 410, reason: "Expired", message });
      connection.end = "closed";
    } else {
      for (const change of this.#changes) if (change.revision > from) this.#send(connection, change);
    }
    if (connection.end === "open") this.#connections.add(connection);
    const onAbort = () => end(connection, signal?.reason as Error);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        for (let line = connection.lines.shift(); line !== undefined; line = connection.lines.shift())
          yield Buffer.from(line);
        if (connection.end === "closed") return;
        if (connection.end !== "open") throw connection.end;
        await new Promise<void>((resolve) => {
          connection.wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#connections.delete(connection);
    }
  }

  #enter(request: string): void {
    this.requests.push(request);
    const fault = this.faults.shift();
    if (fault) throw fault;
    if (!this.isInstalled)
      throw new ApiError({ kind: "Status", code: 404, reason: "NotFound", message: "no such resource" });
  }

  #endAll(how: "closed" | Error): void {
    for (const connection of this.#connections) end(connection, how);
    this.#connections.clear();
  }

  #publish(change: Change): void {
    this.#changes.push(change);
    this.#log.push(change);
    for (const connection of this.#connections) {
      // A real server waits for the version that a watch goes on from without a word, also where it
      // went back to before it.
      const from = Number(connection.options.resourceVersion ?? "");
      if (change.revision > from) this.#send(connection, change);
    }
  }

  #stateAt(revision: number): ReadonlyMap<string, AnyObject> {
    const state = new Map<string, AnyObject>();
    for (const { revision: at, before, after } of this.#log) {
      if (at > revision) break;
      const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
      if (after) state.set(`${namespace}/${name}`, after);
      else state.delete(`${namespace}/${name}`);
    }
    return state;
  }

  /** The revision that a list shows. */
  #listed({ resourceVersion = "" }: { readonly resourceVersion?: string }): number {
    if (resourceVersion === "") return this.#revision;
    return Math.max(Number(resourceVersion), this.#oldest, this.#revision - this.behind);
  }

  #isFuture({ resourceVersion = "" }: { readonly resourceVersion?: string }): boolean {
    return Number(resourceVersion) > this.#revision;
  }

  #send(connection: Connection, { revision, before, after }: Change): void {
    const was = before && selects(connection.options, before);
    const is = after && selects(connection.options, after);
    const type: ChangeType | undefined = is ? (was ? "MODIFIED" : "ADDED") : was ? "DELETED" : undefined;
    if (!type) return;
    const object = is ? after : before;
    if (!object) return;
    send(connection, type, {
      ...asAskedFor(connection.kind, object),
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    });
  }
}

function send(connection: Connection, type: string, object: unknown): void {
  connection.lines.push(JSON.stringify({ type, object }));
  connection.wake();
}

function end(connection: Connection, how: "closed" | Error): void {
  if (connection.end === "open") connection.end = how;
  connection.wake();
}

function asAskedFor({ representation }: AnyKind, object: AnyObject): AnyObject {
  if (representation === undefined) return object;
  return { apiVersion: "meta.k8s.io/v1", kind: representation, metadata: object.metadata };
}

function bookmark(revision: number, annotations?: Record<string, string>) {
  return {
    kind: "Widget",
    apiVersion: "example.com/v1",
    metadata: {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(annotations ? { annotations } : {}),
    },
  };
}

const tooLarge = {
  kind: "Status",
  status: "Failure",
  code: 504,
  reason: "Timeout",
  message: "Too large resource version",
  details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
} as const;

function gone(): ApiError {
  return new ApiError({
    kind: "Status",
    code: 410,
    reason: "Expired",
    message: "the continue token is too old",
  });
}

function selects(options: ListOptions | WatchOptions, object: AnyObject): boolean {
  return (
    (options.namespace === undefined || options.namespace === object.metadata.namespace) &&
    matchesSelector(parseSelector(options.labelSelector ?? ""), object.metadata.labels) &&
    parseFields(options.fieldSelector ?? "")(object)
  );
}
