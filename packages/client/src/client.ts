import { type Clock, systemClock } from "@windlass/clock";
import type {
  AnyKind,
  AnyObject,
  ApplyOf,
  CreateOf,
  KeyOf,
  KubernetesList,
  MergePatch,
  MergePatchOf,
  ObjectOf,
  UpdateOf,
} from "@windlass/kinds";
import { isRecord } from "@windlass/kinds/json";
import { named, partialKeyOf, placed, withKind } from "./addressing.ts";
import { discardBody, errorFrom, parseJson, readBody } from "./body.ts";
import { type ConnectionOptions, openTransport } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { Discovery } from "./discovery.ts";
import { type Status, TransportError } from "./errors.ts";
import { splitFrames } from "./frames.ts";
import { jsonAsYaml } from "./json-as-yaml.ts";
import { accessFor } from "./kubeconfig/access.ts";
import type { Kubeconfig } from "./kubeconfig/kubeconfig.ts";
import { splitLines } from "./lines.ts";
import type { Log } from "./log.ts";
import { collectionPath, objectPath, queryString } from "./paths.ts";
import { sendablePreconditions } from "./preconditions.ts";
import { type Encoding, listQuery, read, signalOf, watchQuery } from "./read-requests.ts";
import { type ServerVersion, VersionQuery } from "./server-version.ts";
import type { Interceptor, Transport, TransportResponse } from "./transport.ts";
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  Deletion,
  GetOptions,
  ListOptions,
  Patch,
  RawRequest,
  Reader,
  SendOptions,
  WatchEvent,
  Watcher,
  WatchOptions,
  WriteOptions,
  Writer,
} from "./verbs.ts";
import { parseWarnings, type WarningHandler, warnOnce } from "./warning.ts";

/** What a client is made of. Only the transport is needed. */
export interface ClientOptions {
  readonly transport: Transport;
  /** Who writes, as `managedFields` will say. @default "windlass" */
  readonly fieldManager?: string;
  /**
   * How the client names itself to the server, and so in its audit log.
   *
   * @default "windlass/0.1.0 (PLATFORM/ARCH)"
   */
  readonly userAgent?: string;
  /**
   * Takes the server's warnings.
   *
   * @default each text once, to `log`, or to the process' warnings if there is none
   */
  readonly onWarning?: WarningHandler;
  /** @default none */
  readonly log?: Log;
  /** Times the discovery cache. @default the system's */
  readonly clock?: Clock;
  /**
   * Whether the server is asked for protobuf where objects are kept as they come, as a cache does.
   * @default false; true for a client that {@link connect} makes
   */
  readonly protobuf?: boolean;
  /**
   * The largest answer that is read into memory as one, decompressed. Streams are not bound by it:
   * each event of a watch may be as large, and a page of a list that a cache reads four times as
   * large. @default 268,435,456 (256 MiB)
   */
  readonly maxResponseBytes?: number;
}

/**
 * Answers as protobuf, for caches that keep bytes and read them late. A server that has none for a
 * kind answers 406.
 */
export interface ProtobufReader {
  /** A list as the bytes of its message. */
  list(kind: AnyKind, options?: ListOptions): AsyncIterable<Uint8Array>;
  /** A watch as its events, each a message. Valid until the next one is asked for. */
  watch(kind: AnyKind, options?: WatchOptions): AsyncIterable<Buffer>;
  /** The Kubernetes version that the server speaks. Asked for once. */
  serverVersion(): Promise<ServerVersion>;
}

/**
 * One subresource of one object. `T` is its own type: a `Scale`, an `Eviction`, a `TokenRequest`.
 */
export interface Subresource<T> {
  get(options?: CallOptions): Promise<T>;
  create(body: object, options?: WriteOptions): Promise<T>;
  update(body: object, options?: WriteOptions): Promise<T>;
  patch(patch: Patch<MergePatch<T>>, options?: WriteOptions): Promise<T>;
  apply(body: object, options?: ApplyOptions): Promise<T>;
}

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/**
 * The verbs of the API over a transport. Holds no state but its options, so it can be shared
 * freely; the maker of the transport closes it, or `close` does for both.
 *
 * Rejects with `ApiError` when the server answered with a Status, with `TransportError` when none
 * answered, with the signal's reason when aborted, and with `TypeError` for calls that cannot be
 * addressed (no name, no namespace).
 *
 * @example
 * await using client = await connect();
 * const pods = await client.list(Pod, { namespace: "default", labelSelector: "app=web" });
 */
export class Client implements Reader, Writer, Watcher, AsyncDisposable {
  readonly transport: Transport;
  readonly fieldManager: string;
  /** What the server serves, fetched when first asked for. */
  readonly discovery: Discovery;
  /** Undefined for a client that speaks JSON only. */
  readonly protobuf: ProtobufReader | undefined;
  readonly #options: ClientOptions;
  readonly #userAgent: string;
  readonly #onWarning: WarningHandler;
  readonly #maxBytes: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.transport = options.transport;
    this.fieldManager = options.fieldManager ?? "windlass";
    this.#userAgent = options.userAgent ?? `windlass/0.1.0 (${process.platform}/${process.arch})`;
    this.#onWarning = options.onWarning ?? defaultWarnings(options.log);
    const clock = options.clock ?? systemClock;
    this.#maxBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    this.discovery = new Discovery((path, accept) => this.json({ path, headers: { accept } }), clock);
    if (options.protobuf) {
      const version = new VersionQuery((signal) => this.json({ path: "/version", signal }), clock);
      this.protobuf = {
        list: (kind, listOptions) => this.#list(kind, listOptions, "protobuf"),
        watch: (kind, watchOptions) => this.#watch(kind, watchOptions, "protobuf"),
        serverVersion: () => version.get(),
      };
    }
  }

  /** A client for a kubeconfig already read. {@link connect} also finds one. */
  static fromKubeconfig(
    config: Kubeconfig,
    options: Omit<ClientOptions, "transport"> & ConnectionOptions & { readonly context?: string } = {},
  ): Client {
    return new Client({
      protobuf: true,
      ...options,
      transport: openTransport(accessFor(config, options.context), options),
    });
  }

  /** A client like this one, whose requests go through an interceptor first. */
  through(interceptor: Interceptor): Client {
    return new Client({ ...this.#options, transport: interceptor(this.transport) });
  }

  async get<K extends AnyKind>(kind: K, key: KeyOf<K>, options: GetOptions = {}): Promise<ObjectOf<K>> {
    const path = objectPath(kind, key, options.subresource);
    const query = queryString({ resourceVersion: options.resourceVersion });
    return (await this.json(read(kind, path + query, options))) as ObjectOf<K>;
  }

  async list<K extends AnyKind>(kind: K, options: ListOptions = {}): Promise<KubernetesList<ObjectOf<K>>> {
    const path = collectionPath(kind, options.namespace) + queryString(listQuery(options));
    const list = (await this.json(read(kind, path, options, { suffix: "List" }))) as KubernetesList<
      ObjectOf<K>
    > | null;
    if (!Array.isArray(list?.items)) {
      // Go servers send null for an empty list of some aggregated kinds.
      if (list && list.items === null) return { ...list, items: [] };
      throw new TransportError("RESPONSE_MALFORMED", `GET ${pathOnly(path)}: the answer is not a list`);
    }
    return list;
  }

  /** The pages of a list, each of `limit` objects, until there are none. */
  async *pages<K extends AnyKind>(
    kind: K,
    options: ListOptions & { readonly limit: number },
  ): AsyncGenerator<KubernetesList<ObjectOf<K>>> {
    let page = await this.list(kind, options);
    yield page;
    while (page.metadata.continue) {
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
      page = await this.list(kind, { ...rest, continue: page.metadata.continue });
      yield page;
    }
  }

  /**
   * A list as the bytes of its JSON, as they arrive. For caches that keep bytes and parse late; for
   * everything else `list`. Leaving the iteration early ends the request.
   */
  listBytes(kind: AnyKind, options: ListOptions = {}): AsyncIterable<Uint8Array> {
    return this.#list(kind, options, "json");
  }

  /**
   * Changes as they happen. Ends when the server ends it, as it does after some minutes: resume
   * from the last resource version seen. An ERROR event (410, most often) is given as such; an
   * answer that is an error is thrown.
   */
  async *watch<K extends AnyKind>(
    kind: K,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<ObjectOf<K>>> {
    const request = `WATCH ${collectionPath(kind, options.namespace)}`;
    for await (const line of this.watchLines(kind, options)) {
      const event = parseJson(line, request);
      if (!isWatchEvent<ObjectOf<K>>(event))
        throw new TransportError("RESPONSE_MALFORMED", `${request}: a line is not a watch event`);
      yield event;
    }
  }

  /**
   * A watch as its lines, each the JSON of one event, not parsed. A line may share memory with its
   * neighbours: copy what is to be kept.
   */
  watchLines(kind: AnyKind, options: WatchOptions = {}): AsyncIterableIterator<Buffer> {
    return this.#watch(kind, options, "json");
  }

  async create<K extends AnyKind>(
    kind: K,
    object: CreateOf<K>,
    options: WriteOptions = {},
  ): Promise<ObjectOf<K>> {
    const key = partialKeyOf(object);
    const path = options.subresource
      ? objectPath(kind, named(kind, key), options.subresource)
      : collectionPath(kind, placed(kind, key));
    const body = options.subresource ? object : withKind(kind, object);
    return (await this.#write("POST", path, body, options)) as ObjectOf<K>;
  }

  /**
   * Replaces the object of the same name. With a `resourceVersion` in it, only if nothing changed
   * since.
   */
  async update<K extends AnyKind>(
    kind: K,
    object: UpdateOf<K>,
    options: WriteOptions = {},
  ): Promise<ObjectOf<K>> {
    const path = objectPath(kind, named(kind, partialKeyOf(object)), options.subresource);
    const body = isOwnType(options.subresource) ? withKind(kind, object) : object;
    return (await this.#write("PUT", path, body, options)) as ObjectOf<K>;
  }

  async patch<K extends AnyKind>(
    kind: K,
    key: KeyOf<K>,
    patch: Patch<MergePatchOf<K>>,
    options: WriteOptions = {},
  ): Promise<ObjectOf<K>> {
    const path = objectPath(kind, key, options.subresource);
    return (await this.#write("PATCH", path, patch.patch, options, patchTypes[patch.type])) as ObjectOf<K>;
  }

  /**
   * Server-side apply: specifies which fields the object should have, and leaves those of other
   * managers alone. Creates the object if there is none.
   */
  async apply<K extends AnyKind>(
    kind: K,
    object: ApplyOf<K>,
    options: ApplyOptions = {},
  ): Promise<ObjectOf<K>> {
    const path = objectPath(kind, named(kind, partialKeyOf(object)), options.subresource);
    const body = isOwnType(options.subresource) ? withKind(kind, object) : object;
    return (await this.#write("PATCH", path, body, options, patchTypes.apply)) as ObjectOf<K>;
  }

  /**
   * Asks for deletion. With finalizers or a grace period the object may still be there when this
   * resolves: the answer says whether it is.
   */
  async delete<K extends AnyKind>(kind: K, key: KeyOf<K>, options: DeleteOptions = {}): Promise<Deletion<K>> {
    const path = objectPath(kind, key);
    const response = await this.#delete(path, options);
    const request = `DELETE ${path}`;
    const bytes = await this.#readBody(response, request);
    const answer = bytes.length === 0 ? undefined : parseJson(bytes, request);
    if (isRecord(answer) && answer.kind !== "Status" && isRecord(answer.metadata))
      return { is: "object", object: answer as unknown as ObjectOf<K> };
    return { is: "gone", status: isRecord(answer) ? (answer as Status) : {} };
  }

  /**
   * Deletes all objects that the selectors and the namespace allow.
   *
   * @throws TypeError for a namespace of a cluster-scoped kind: all its objects would go.
   */
  async deleteCollection(kind: AnyKind, options: ListOptions & DeleteOptions = {}): Promise<void> {
    if (kind.scope === "Cluster" && options.namespace)
      throw new TypeError(
        `${kind.kind} is cluster-scoped: its objects are in no namespace, ${options.namespace} neither`,
      );
    const path = collectionPath(kind, options.namespace) + queryString(listQuery(options));
    await discardBody((await this.#delete(path, options)).body);
  }

  /**
   * A subresource with a type of its own. Those that share their object's type (`status`) are an
   * option of the verbs.
   *
   * @example
   * await client.subresource(Deployment, { namespace: "default", name: "web" }, "scale").patch({ type: "merge", patch: { spec: { replicas: 3 } } });
   */
  subresource<T = AnyObject, K extends AnyKind = AnyKind>(
    kind: K,
    key: KeyOf<K>,
    name: string,
  ): Subresource<T> {
    const path = objectPath(kind, key, name);
    return {
      get: async (options = {}) => (await this.json({ path, ...signalOf(options) })) as T,
      create: async (body, options = {}) => (await this.#write("POST", path, body, options)) as T,
      update: async (body, options = {}) => (await this.#write("PUT", path, body, options)) as T,
      patch: async (patch, options = {}) =>
        (await this.#write("PATCH", path, patch.patch, options, patchTypes[patch.type])) as T,
      apply: async (body, options = {}) =>
        (await this.#write("PATCH", path, body, options, patchTypes.apply)) as T,
    };
  }

  /** Any request by path, its answer as parsed JSON. */
  async json(request: RawRequest): Promise<unknown> {
    const response = await this.raw({ ...wholeBody, ...request });
    const described = describe(request);
    return parseJson(await this.#readBody(response, described), described);
  }

  /** Any request by path, its answer as text. */
  async text(request: RawRequest): Promise<string> {
    const response = await this.raw({ ...wholeBody, ...request });
    return (await this.#readBody(response, describe(request))).toString("utf8");
  }

  /**
   * Any request by path. The answer's body must be read, or its iteration left: until then it holds
   * a connection.
   *
   * @example
   * const path = "/api/v1/namespaces/default/pods/web-0/log?follow=true";
   * const log = await client.raw({ path, idleTimeout: Number.POSITIVE_INFINITY });
   * for await (const chunk of log.body) process.stdout.write(chunk);
   */
  async raw(request: RawRequest): Promise<TransportResponse> {
    const { body, signal, guard, path, method = "GET" } = request;
    const { idleTimeout, bodyTimeout, borrowsChunks, retry } = request;
    const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
    signal?.throwIfAborted();
    const response = await this.transport.request({
      method,
      path,
      headers: {
        accept: "application/json",
        "user-agent": this.#userAgent,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string | Uint8Array) }),
      ...(signal ? { signal } : {}),
      ...(guard ? { guard } : {}),
      ...(idleTimeout === undefined ? {} : { idleTimeout }),
      ...(bodyTimeout === undefined ? {} : { bodyTimeout }),
      ...(borrowsChunks ? { borrowsChunks } : {}),
      ...(retry ? { retry } : {}),
    });
    for (const text of parseWarnings(response.headers.warning)) this.#onWarning(text);
    if (response.status >= 400) throw await errorFrom(response, describe(request));
    if (response.status >= 300) {
      await discardBody(response.body);
      throw new TransportError(
        "RESPONSE_MALFORMED",
        `${describe(request)}: redirected (${response.status}), which API servers do not do; is "server" its exact URL?`,
      );
    }
    return response;
  }

  /** Closes the transport. */
  async close(): Promise<void> {
    await this.transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#list(kind: AnyKind, options: ListOptions = {}, encoding: Encoding): AsyncGenerator<Uint8Array> {
    const path = collectionPath(kind, options.namespace) + queryString(listQuery(options));
    const response = await this.raw({
      ...wholeBody,
      ...read(kind, path, options, { suffix: "List", encoding }),
    });
    yield* response.body;
  }

  #readBody(response: TransportResponse, request: string): Promise<Buffer> {
    return readBody(response.body, { request, maxBytes: this.#maxBytes });
  }

  /**
   * Pieces are given on as they are, with no generator around them: a large list is tens of
   * thousands of them.
   */
  #watch(kind: AnyKind, options: WatchOptions = {}, encoding: Encoding): AsyncIterableIterator<Buffer> {
    const path = collectionPath(kind, options.namespace) + queryString(watchQuery(options));
    const { idleTimeout = Number.POSITIVE_INFINITY } = options;
    return deferred(async () => {
      const response = await this.raw({
        ...read(kind, path, options, { encoding }),
        retry: "never",
        borrowsChunks: true,
        idleTimeout,
      });
      return encoding === "json" ? splitLines(response.body) : splitFrames(response.body);
    });
  }

  #write(
    method: "POST" | "PUT" | "PATCH",
    path: string,
    body: unknown,
    options: ApplyOptions,
    contentType = "application/json",
  ): Promise<unknown> {
    const query = queryString({
      fieldManager: options.fieldManager ?? this.fieldManager,
      dryRun: options.dryRun ? "All" : undefined,
      fieldValidation: options.fieldValidation,
      force: options.force ? true : undefined,
    });
    return this.json({
      method,
      path: path + query,
      headers: { "content-type": contentType },
      body: contentType === patchTypes.apply ? jsonAsYaml(body) : JSON.stringify(body),
      ...sendOptionsOf(options),
    });
  }

  #delete(path: string, options: DeleteOptions): Promise<TransportResponse> {
    const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun } = options;
    return this.raw({
      ...wholeBody,
      method: "DELETE",
      path,
      body: {
        kind: "DeleteOptions",
        apiVersion: "v1",
        ...(propagationPolicy ? { propagationPolicy } : {}),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(preconditions ? { preconditions: sendablePreconditions(preconditions) } : {}),
        ...(dryRun ? { dryRun: ["All"] } : {}),
      },
      ...sendOptionsOf(options),
    });
  }
}

/**
 * The limit of an answer that is no stream. An API server gives up after a minute by itself; one
 * that sends a byte now and then is never silent.
 */
const wholeBody = { bodyTimeout: 300_000 } as const;

function sendOptionsOf({ signal, guard }: SendOptions): SendOptions {
  return { ...(signal ? { signal } : {}), ...(guard ? { guard } : {}) };
}

function defaultWarnings(log: Log | undefined): WarningHandler {
  return warnOnce((text) => {
    if (log) log.warn({ warning: text }, "the API server warns");
    else process.emitWarning(text, { type: "KubernetesWarning" });
  });
}

/** `GET /api/v1/pods`: the query is left out, for it is long and says little. */
function describe(request: Pick<RawRequest, "method" | "path">): string {
  return `${request.method ?? "GET"} ${pathOnly(request.path)}`;
}

function pathOnly(path: string): string {
  const query = path.indexOf("?");
  return query < 0 ? path : path.slice(0, query);
}

/** The other subresources have types of their own, which only the caller knows. */
function isOwnType(subresource: string | undefined): boolean {
  return subresource === undefined || subresource === "status";
}

function isWatchEvent<T>(value: unknown): value is WatchEvent<T> {
  return isRecord(value) && typeof value.type === "string" && isRecord(value.object);
}
