import type {
  AnyKind,
  DeclaredKind,
  KeyOf,
  KubernetesObject,
  MetadataOnly,
  ObjectKey,
  ObjectOf,
  ResourceKind,
} from "@windlass/client";

/** Which objects of a kind an informer holds. Two requests with equal scopes share one informer. */
export interface InformerScope {
  /** @default all namespaces */
  readonly namespace?: string;
  /**
   * Several namespaces, which may change while running: see `namespaceSet` and `namespacesByLabel`.
   * One watch for each. Ignored for kinds that are not namespaced, and where `namespace` is given.
   */
  readonly namespaces?: Namespaces;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Hold `metadata` alone. A fraction of the memory; enough for owners, labels and existence.
   *
   * @default false
   */
  readonly metadataOnly?: boolean;
}

/** A change as handlers see it. Handlers run after the store and its indexes hold the new state. */
export type CacheEvent<T> =
  | { readonly type: "added"; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  | { readonly type: "deleted"; readonly object: T };

/** Which objects a list from the cache gives. */
export interface CacheListOptions {
  /** @default all namespaces that are held */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
}

/**
 * Reads from memory, synchronous, never from the network. What this process wrote is visible to its
 * next read, whether or not the watch has brought it yet. Objects are shared: readonly by type, and
 * frozen while developing.
 *
 * Reading what no informer holds throws `CacheMissError` (with the way out in its message); it
 * never answers "not found". An informer that holds a part of a kind, by a selector or by its
 * metadata alone, answers those who asked for that part, and no other reader about the rest: the
 * reader that a controller is handed sees what the controller declared, and the cache itself what
 * is held in full.
 */
export interface CacheReader<Cached extends AnyKind = AnyKind, Index extends IndexName = IndexName> {
  get<K extends DeclaredAs<Cached> | NotCached>(kind: K, key: KeyOf<K>): ObjectOf<K> | undefined;
  list<K extends DeclaredAs<Cached> | NotCached>(kind: K, options?: CacheListOptions): readonly ObjectOf<K>[];
  /** Objects whose index function gave `value`. */
  byIndex<K extends DeclaredAs<Index["kind"]> | NotIndexed>(
    kind: K,
    index: NameOfIndex<Index, K>,
    value: string,
  ): readonly ObjectOf<K>[];
  /** Objects that carry an owner reference to this uid. */
  ownedBy<K extends DeclaredAs<Cached> | NotCached>(kind: K, ownerUid: string): readonly ObjectOf<K>[];
}

/** Kinds as the bound of what may be asked for. */
export type DeclaredAs<K> =
  K extends MetadataOnly<infer Whole>
    ? DeclaredKind<ObjectOf<K>, never, Whole>
    : K extends ResourceKind<infer Read, infer Write>
      ? DeclaredKind<Read, Write>
      : never;

/** No kind is this: the compiler compares kinds with it that a controller does not declare. */
export interface NotCached extends MetadataOnly {
  readonly 'add the kind to "owns", "watches" or "reads"': never;
}

/** No kind is this: the compiler compares kinds with it that have no index. */
export interface NotIndexed extends MetadataOnly {
  readonly "declare an index of the kind": never;
}

/** An index of a kind by its name, for the compiler. */
export interface IndexName<K extends AnyKind = AnyKind, Name extends string = string> {
  readonly kind: K;
  readonly name: Name;
}

/** The names of the indexes of one kind. */
export type NameOfIndex<Index extends IndexName, K> =
  Index extends IndexName<infer Kind, infer Name> ? (K extends Kind ? Name : never) : never;

/**
 * One kind's stream of changes and its store. Shared and reference-counted: `release` when done.
 *
 * Its reads see its scope and nothing else: an object that its selectors leave out is not there.
 * They throw `CacheMissError` before the first list is here and for a namespace that it does not
 * hold, and `CacheStoppedError` once it is released.
 */
export interface Informer<T extends KubernetesObject> {
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  /** Resolves once the first full list is in the store. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /**
   * Calls the handler for every object already here (as `added`, `initial: true`), then for each
   * change. Returns the way to stop.
   */
  subscribe(handler: (event: CacheEvent<T>) => void): () => void;
  /**
   * Adds an index; existing objects are indexed at once. Adding the same name and function again is
   * a no-op.
   */
  addIndex(name: string, values: (object: T) => readonly string[]): void;
  /**
   * Whether the key's namespace is one of those that it holds at present: one that has joined
   * counts once its first list is here.
   */
  holds(key: ObjectKey): boolean;
  get(key: ObjectKey): T | undefined;
  /** What a field manager owns of the object that `get` gives: see {@link Cache.ownedFields}. */
  ownedFields(key: ObjectKey, manager: string, subresource?: string): OwnedFields | undefined;
  list(options?: CacheListOptions): readonly T[];
  /** @throws TypeError if it has no such index. */
  byIndex(index: string, value: string): readonly T[];
  ownedBy(ownerUid: string): readonly T[];
  release(): void;
}

/**
 * Fields as the server's `managedFields` name them: `f:` a field, `k:` an item by its keys, `v:` by
 * its value, `.` itself.
 */
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
  /**
   * The informer of this kind and scope, started if need be. Every call must be paired with a
   * `release`.
   */
  informer<K extends AnyKind>(kind: K, scope?: InformerScope): Informer<ObjectOf<K>>;
  /**
   * Resolves when every informer asked for so far has synced.
   *
   * @throws CacheSyncError naming the kinds that have not, after the timeout.
   */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /**
   * Keep what this field manager owns of objects. To be called before the informers are asked for.
   */
  trackFieldManager(name: string): void;
  /**
   * What a field manager owns of the object that `get` gives, through the main endpoint or a
   * subresource's. Undefined if it owns nothing, or if it is not tracked.
   */
  ownedFields(kind: AnyKind, key: ObjectKey, manager: string, subresource?: string): OwnedFields | undefined;
  /** Makes a write of ours visible to reads at once. Takes the server's response to it. */
  wrote(kind: AnyKind, object: KubernetesObject): void;
  /**
   * Makes a delete of ours visible to reads at once (only once the object is really gone, not while
   * finalizers hold it). `isCertain` means that the server's response proves it: states of the
   * object that the watch still brings are then hidden too. @default { isCertain: false }
   */
  deleted(kind: AnyKind, object: KubernetesObject, options?: { readonly isCertain?: boolean }): void;
  /**
   * Resolves once the watch itself has caught up with our own writes of this kind. For those who
   * want to wait.
   */
  barrier(kind: AnyKind, signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** A choice of namespaces that may change while it is in use. */
export interface Namespaces {
  readonly names: ReadonlySet<string>;
  /** Calls the listener after each change of `names`. Returns the way to stop. */
  subscribe(listener: () => void): () => void;
  /** Resolves once the first choice is made. */
  readonly ready: Promise<void>;
}
