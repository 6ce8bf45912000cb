import type { Duration } from "@windlass/clock";
import type {
  AnyKind,
  ApplyOf,
  CreateOf,
  KeyOf,
  KubernetesList,
  KubernetesObject,
  MergePatchOf,
  ObjectOf,
  UpdateOf,
} from "@windlass/kinds";
import type { Status } from "./errors.ts";
import type { TransportRequest } from "./transport.ts";

/** Options that every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Options of every call that changes something. */
export interface SendOptions extends CallOptions {
  /**
   * Called synchronously, right before the request is sent and again before each repetition. Throws
   * to refuse it; see `TransportRequest.guard`. @default always allowed
   */
  readonly guard?: (() => void) | undefined;
}

/** How an object is read. */
export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string;
  /**
   * Read a subresource that has the object's own type, such as `status`. For others see
   * `Client.subresource`.
   */
  readonly subresource?: string;
}

/** Which objects are listed, and at which version. */
export interface ListOptions extends CallOptions {
  /** @default all namespaces */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** How an object is written. */
export interface WriteOptions extends SendOptions {
  /** Who writes, as `managedFields` will say. @default the client's `fieldManager` */
  readonly fieldManager?: string;
  /** Run everything but the storing. @default false */
  readonly dryRun?: boolean;
  /**
   * What the server does about fields it does not know.
   *
   * @default the server's own default, `Warn`
   */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** Any subresource by name, e.g. `status`, `scale`, `eviction`, `binding`, `token`. */
  readonly subresource?: string;
}

/** How an object is applied. */
export interface ApplyOptions extends WriteOptions {
  /** Take over fields that other managers own. @default false */
  readonly force?: boolean;
}

/** How an object is deleted. */
export interface DeleteOptions extends SendOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  /**
   * Deletes this very object, or this very version of it. The metadata of an object that was read
   * will do. @default whatever object has the name
   */
  readonly preconditions?: Preconditions;
  readonly dryRun?: boolean;
}

/**
 * What must be so of an object that is deleted. A field may be left out; one that is given and
 * undefined is refused, for nothing would be compared.
 */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** Which objects are watched, and from which version. */
export interface WatchOptions extends CallOptions {
  /** @default all namespaces */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events after this version. Absent: the current objects first, as ADDED. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /**
   * Stream the current objects, then a bookmark that marks their end, then changes (watch-list).
   */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly timeoutSeconds?: number;
  /**
   * Silence for this long counts as a dead peer and throws a `TransportError`.
   *
   * @default no limit
   */
  readonly idleTimeout?: Duration;
}

/** An event of a watch. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubernetesObject }
  | { readonly type: "ERROR"; readonly object: unknown };

/**
 * The three patch formats that are plain documents. Server-side apply has a verb of its own,
 * `apply`.
 *
 * A merge patch is checked by the compiler. The others are not: a JSON patch names its fields by
 * paths, a strategic one has directives of its own.
 */
export type Patch<Merge = unknown> =
  | { readonly type: "merge"; readonly patch: Merge }
  | { readonly type: "json"; readonly patch: readonly JsonPatchOperation[] }
  | { readonly type: "strategic"; readonly patch: unknown };

/** An operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/**
 * What a server answers to a delete. A Status: the object no longer exists, and `details.uid` tells
 * which it was. The object itself: its last state, or, with a `deletionTimestamp` and finalizers or
 * a grace period, the state in which it still is.
 */
export type Deletion<K extends AnyKind> =
  | { readonly is: "gone"; readonly status: Status }
  | { readonly is: "object"; readonly object: ObjectOf<K> };

/**
 * The verbs of the API. `Client` speaks them over a transport; the manager's client has the same
 * face, reads from the cache, and sees its own writes.
 *
 * Every rejected promise carries an `ApiError` (the server answered with a Status) or a
 * `TransportError` (it did not).
 */
export interface Reader {
  get<K extends AnyKind>(kind: K, key: KeyOf<K>, options?: GetOptions): Promise<ObjectOf<K>>;
  list<K extends AnyKind>(kind: K, options?: ListOptions): Promise<KubernetesList<ObjectOf<K>>>;
}

/** The verbs that write. */
export interface Writer {
  create<K extends AnyKind>(kind: K, object: CreateOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
  update<K extends AnyKind>(kind: K, object: UpdateOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
  patch<K extends AnyKind>(
    kind: K,
    key: KeyOf<K>,
    patch: Patch<MergePatchOf<K>>,
    options?: WriteOptions,
  ): Promise<ObjectOf<K>>;
  apply<K extends AnyKind>(kind: K, object: ApplyOf<K>, options?: ApplyOptions): Promise<ObjectOf<K>>;
  delete<K extends AnyKind>(kind: K, key: KeyOf<K>, options?: DeleteOptions): Promise<Deletion<K>>;
  deleteCollection<K extends AnyKind>(kind: K, options?: ListOptions & DeleteOptions): Promise<void>;
}

/** The verb that watches. */
export interface Watcher {
  watch<K extends AnyKind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>>;
}

/** A request by path, for what has no verb: `/version`, `/readyz`, a pod's log. */
export interface RawRequest extends SendOptions {
  /** @default "GET" */
  readonly method?: TransportRequest["method"];
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: TransportRequest["headers"];
  /** A string or bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  /**
   * See `TransportRequest`: for a stream that may be silent for long, such as a log that is
   * followed, `Infinity`.
   */
  readonly idleTimeout?: Duration;
  /**
   * How long the whole body of the answer may take. @default "5m" where it is read into memory, and
   * no limit for `raw`
   */
  readonly bodyTimeout?: Duration;
  readonly borrowsChunks?: boolean;
  readonly retry?: TransportRequest["retry"];
}
