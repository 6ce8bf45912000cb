import type { AnyKind, KubernetesObject, ObjectKey, ObjectOf } from "@windlass/client";
import type { Namespaces } from "./namespaces.ts";

/** Which objects of a kind an informer holds. Two requests with equal scopes share one informer. */
export interface InformerScope {
  /** @default all namespaces */
  readonly namespace?: string;
  /**
   * Several namespaces, which may change while running: see `namespaceSet` and `namespacesByLabel`. One watch for each. Ignored for
   * kinds that are not namespaced, and where `namespace` is given.
   */
  readonly namespaces?: Namespaces;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Hold `metadata` alone. A fraction of the memory; enough for owners, labels and existence. @default false */
  readonly metadataOnly?: boolean;
}

/** A change as handlers see it. Handlers run after the store and its indexes hold the new state. */
export type CacheEvent<T> =
  | { readonly type: "added"; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  | { readonly type: "deleted"; readonly object: T };

export interface CacheListOptions {
  /** @default all namespaces */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
}

/**
 * Reads from memory, synchronous, never from the network. What this process wrote is visible to its next read, whether or not the
 * watch has brought it yet. Objects are shared: readonly by type, and frozen while developing.
 *
 * Reading a kind that no informer holds throws `CacheMissError` (with the way out in its message); it never answers "not found".
 */
export interface CacheReader {
  get<K extends AnyKind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined;
  list<K extends AnyKind>(kind: K, options?: CacheListOptions): readonly ObjectOf<K>[];
  /** Objects whose index function gave `value`. */
  byIndex<K extends AnyKind>(kind: K, index: string, value: string): readonly ObjectOf<K>[];
  /** Objects that carry an owner reference to this uid. */
  ownedBy<K extends AnyKind>(kind: K, ownerUid: string): readonly ObjectOf<K>[];
}

/** One kind's stream of changes and its store. Shared and reference-counted: `release` when done. */
export interface Informer<T extends KubernetesObject> {
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  /** Resolves once the first full list is in the store. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** Calls the handler for every object already here (as `added`, `initial: true`), then for each change. Returns the way to stop. */
  subscribe(handler: (event: CacheEvent<T>) => void): () => void;
  /** Adds an index; existing objects are indexed at once. Adding the same name and function again is a no-op. */
  addIndex(name: string, values: (object: T) => readonly string[]): void;
  release(): void;
}

/** Fields as the server's `managedFields` name them: `f:` a field, `k:` an item by its keys, `v:` by its value, `.` itself. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

/** What a field manager owns of an object because it applied it. */
export interface OwnedFields {
  /** The version of the kind that the fields are named in. */
  readonly apiVersion: string;
  readonly fields: FieldsV1;
  /** The same for as long as what the tracked managers own of the object is. */
  readonly version: string;
}

/** What the rest of the runtime asks of the cache. */
export interface Cache extends CacheReader {
  /** The informer of this kind and scope, started if need be. Every call must be paired with a `release`. */
  informer<K extends AnyKind>(kind: K, scope?: InformerScope): Informer<ObjectOf<K>>;
  /** Resolves when every informer asked for so far has synced. @throws CacheSyncError naming the kinds that have not, after the timeout. */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /** Keep what this field manager owns of objects. To be called before the informers are asked for. */
  trackFieldManager(name: string): void;
  /**
   * What a field manager owns of the object that `get` gives, through the main endpoint or a subresource's. Undefined if it
   * owns nothing, or if it is not tracked.
   */
  ownedFields(kind: AnyKind, key: ObjectKey, manager: string, subresource?: string): OwnedFields | undefined;
  /** Makes a write of ours visible to reads at once. Takes the server's response to it. */
  wrote(kind: AnyKind, object: KubernetesObject): void;
  /**
   * Makes a delete of ours visible to reads at once (only once the object is really gone, not while finalizers hold it). `isCertain` says that the
   * server's answer says so: states of the object that the watch still brings are then hidden too. @default { isCertain: false }
   */
  deleted(kind: AnyKind, object: KubernetesObject, options?: { readonly isCertain?: boolean }): void;
  /** Resolves once the watch itself has caught up with our own writes of this kind. For those who want to wait. */
  barrier(kind: AnyKind, signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}
