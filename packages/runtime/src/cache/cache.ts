import type { AnyKind, KubernetesObject, Log, ObjectKey, ObjectOf } from "@windlass/client";
import { type Clock, type Random, sleep, systemClock, systemRandom } from "@windlass/clock";
import { LogThrottle } from "../logging/log-throttle.ts";
import { Arenas } from "./arena.ts";
import type { Cache, CacheListOptions, Informer, InformerScope, OwnedFields } from "./contract.ts";
import { type Ask, isComplete, isInNamespace, partOf } from "./coverage.ts";
import { CacheMissError, CacheStoppedError, CacheSyncError, notSynced, otherNamespace } from "./errors.ts";
import { FieldManagers } from "./field-managers.ts";
import { CompositeInformer, InformerHandle, type LiveInformer } from "./informer.ts";
import { kindIdOf } from "./kind-id.ts";
import type { ListWatcher } from "./list-watcher.ts";
import type { CacheObserver, InformerStats } from "./metrics.ts";
import { ParsedObjects } from "./object-reader.ts";
import { SharedInformer } from "./shared-informer.ts";
import type { Transform } from "./transform.ts";
import { everything, selectionOf } from "./view.ts";

/** What a cache is made from. */
export interface CacheOptions {
  /** Where objects come from: a `Client`, most often. */
  readonly source: ListWatcher;
  /** @default the machine's */
  readonly clock?: Clock;
  /** @default the machine's */
  readonly random?: Random;
  /** @default none */
  readonly log?: Log;
  /**
   * Whether the owner of the source logs that no server answers, so that each kind need not.
   *
   * @default never
   */
  readonly isServerOut?: () => boolean;
  readonly observer?: CacheObserver;
  /**
   * Freeze the objects that reads and events give out, so that a change to one throws where it is
   * made.
   *
   * @default true, unless NODE_ENV is "production"
   */
  readonly freeze?: boolean;
  /**
   * The scope of informers that are asked for without one, and so of all reads from this cache.
   * Selectors in it apply to every kind. @default everything
   */
  readonly defaultScope?: InformerScope;
  /**
   * Changes objects before they are stored, to drop what no controller reads. Gives a transform per
   * kind, or none. Costs a parse and a write of every object. @default none
   */
  readonly transforms?: (kind: AnyKind) => Transform | undefined;
  /** Keep `metadata.managedFields`, often a third of an object. @default false */
  readonly keepManagedFields?: boolean;
  /**
   * Hold objects compressed. They take a half to a fifth of the memory; a read of one that was not
   * read lately costs some 0.1 ms more, and a large list twice the time. @default true for those
   * that come as JSON, custom ones above all; false for those that come as protobuf
   */
  readonly compress?: boolean;
  /** How long `waitForSync` waits, in milliseconds. @default 120_000 */
  readonly syncTimeout?: number;
  /** Objects per page where the server cannot stream. @default 500 */
  readonly pageSize?: number;
  /**
   * How many bytes of JSON may be kept in parsed form beside the bytes themselves: what was read
   * lately is not parsed again. `Infinity` keeps all that was ever read. @default 8 MiB
   */
  readonly parsedBytes?: number;
  /**
   * Start an informer of the default scope when a kind is read that none holds, with a warning. The
   * read itself still throws `CacheMissError`; its `ready` says when to read again. @default false
   */
  readonly readThrough?: boolean;
}

/**
 * Makes a cache. Nothing is watched until an informer is asked for.
 *
 * @example
 * const cache = createCache({ source: client });
 * const pods = cache.informer(Pod, { namespace: "default" });
 * await cache.waitForSync();
 * const web = cache.get(Pod, { namespace: "default", name: "web" });
 */
export function createCache(options: CacheOptions): InformerCache {
  return new SharedInformerCache(options);
}

/** A cache of informers, which can be looked into. */
export interface InformerCache extends Cache {
  informer<K extends AnyKind>(kind: K, scope?: InformerScope): LiveInformer<ObjectOf<K>>;
  /** How each informer stands, for metrics and for people. */
  stats(): readonly InformerStats[];
  /** Bytes of memory that objects take outside the heap, all kinds together. */
  readonly reservedBytes: number;
}

interface Shared {
  readonly informer: SharedInformer;
  users: number;
}

const DEFAULT_PARSED_BYTES = 8 << 20;

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

class SharedInformerCache implements InformerCache {
  readonly #options: CacheOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #throttle: LogThrottle;
  readonly #arena: Arenas;
  readonly #parsed: ParsedObjects;
  readonly #fieldManagers = new FieldManagers();
  /** By kind, then by scope. */
  readonly #shared = new Map<string, Map<string, Shared>>();
  readonly #composites = new Set<CompositeInformer>();
  readonly #readThrough = new Map<string, Informer<KubernetesObject>>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #universe: InformerScope;
  #isStopped = false;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#universe = options.defaultScope ?? {};
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silent;
    this.#throttle = new LogThrottle(this.#clock);
    this.#arena = new Arenas({ packs: options.compress });
    this.#parsed = new ParsedObjects(options.parsedBytes ?? DEFAULT_PARSED_BYTES);
  }

  informer<K extends AnyKind>(kind: K, scope: InformerScope = this.#universe): LiveInformer<ObjectOf<K>> {
    if (this.#isStopped) throw new CacheStoppedError();
    // The objects are of the kind that was asked for; the compiler cannot follow them through the
    // bytes.
    return this.#open(kind, effectiveScope(kind, scope)) as unknown as LiveInformer<ObjectOf<K>>;
  }

  get<K extends AnyKind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined {
    const { informer, namespace } = this.#holder(kind, key);
    return informer.view.get(namespace, key.name) as ObjectOf<K> | undefined;
  }

  list<K extends AnyKind>(kind: K, options: CacheListOptions = {}): readonly ObjectOf<K>[] {
    const selection = selectionOf(kind, options);
    const ask = askOf(kind, { namespace: selection.namespace, labelSelector: options.labelSelector });
    return this.#gather(kind, ask, ({ view }) => view.list(selection));
  }

  byIndex<K extends AnyKind>(kind: K, index: string, value: string): readonly ObjectOf<K>[] {
    return this.#gather(kind, askOf(kind), ({ view }) => view.byIndex(index, value, everything));
  }

  ownedBy<K extends AnyKind>(kind: K, ownerUid: string): readonly ObjectOf<K>[] {
    return this.#gather(kind, askOf(kind), ({ view }) => view.ownedBy(ownerUid, everything));
  }

  async waitForSync(signal?: AbortSignal): Promise<void> {
    const { syncTimeout = 120_000 } = this.#options;
    const waiting = [...this.#all(), ...this.#composites].filter((informer) => !informer.hasSynced);
    signal?.throwIfAborted();
    if (waiting.length === 0) return;
    const over = new AbortController();
    const timeout = sleep(
      this.#clock,
      syncTimeout,
      signal ? AbortSignal.any([signal, over.signal]) : over.signal,
    ).then(() => {
      const pending = waiting
        .filter((informer) => !informer.hasSynced)
        .map(({ kind, status }) => ({ kind, status: status.message }));
      throw new CacheSyncError(syncTimeout, pending);
    });
    try {
      await Promise.race([Promise.all(waiting.map((informer) => informer.synced)), timeout]);
    } finally {
      over.abort();
      // It has nothing more to say; what it said, the race has passed on.
      timeout.catch(nothing);
    }
  }

  trackFieldManager(name: string): void {
    this.#fieldManagers.track(name);
  }

  ownedFields(kind: AnyKind, key: ObjectKey, manager: string, subresource = ""): OwnedFields | undefined {
    const { informer, namespace } = this.#holder(kind, key);
    return informer.ownedFields(namespace, key.name, manager, subresource);
  }

  wrote(kind: AnyKind, object: KubernetesObject): void {
    for (const informer of this.#of(kind)) informer.wrote(object);
  }

  deleted(kind: AnyKind, object: KubernetesObject, { isCertain = false } = {}): void {
    for (const informer of this.#of(kind)) informer.deleted(object, isCertain);
  }

  async barrier(kind: AnyKind, signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#of(kind).map((informer) => informer.barrier(signal)));
  }

  get reservedBytes(): number {
    return this.#arena.reservedBytes;
  }

  stats(): readonly InformerStats[] {
    return this.#all().map((informer) => informer.stats());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const composite of this.#composites) composite.release();
    const informers = this.#all();
    this.#shared.clear();
    await Promise.all([...informers.map((informer) => informer.stop()), ...this.#stopping]);
  }

  #open(kind: AnyKind, scope: InformerScope): LiveInformer<KubernetesObject> {
    const { namespaces } = scope;
    if (!namespaces) return this.#openShared(kind, scope);
    const { namespaces: _, ...rest } = scope;
    const composite = new CompositeInformer(
      kind,
      scope,
      namespaces,
      (namespace) => this.#openShared(kind, { ...rest, namespace }),
      {
        onRelease: () => this.#composites.delete(composite),
        onError: (error) =>
          this.#log.error(
            { err: error, kind: kind.kind },
            "a handler of cache events threw; the others go on",
          ),
      },
    );
    this.#composites.add(composite);
    return composite;
  }

  #openShared(kind: AnyKind, scope: InformerScope): InformerHandle {
    const kindId = kindIdOf(kind);
    const scopeId = scopeIdOf(scope);
    const scopes = this.#shared.get(kindId) ?? new Map<string, Shared>();
    this.#shared.set(kindId, scopes);
    let shared = scopes.get(scopeId);
    if (!shared) {
      shared = { informer: this.#make(kind, scope), users: 0 };
      scopes.set(scopeId, shared);
      shared.informer.start();
    }
    const held = shared;
    held.users += 1;
    return new InformerHandle(held.informer, () => {
      held.users -= 1;
      if (held.users > 0 || scopes.get(scopeId) !== held) return;
      scopes.delete(scopeId);
      if (scopes.size === 0 && this.#shared.get(kindId) === scopes) this.#shared.delete(kindId);
      const stopping = held.informer.stop().finally(() => this.#stopping.delete(stopping));
      this.#stopping.add(stopping);
    });
  }

  #make(kind: AnyKind, scope: InformerScope): SharedInformer {
    const {
      source,
      random = systemRandom,
      observer = {},
      isServerOut = () => false,
      keepManagedFields = false,
      pageSize = 500,
    } = this.#options;
    return new SharedInformer({
      source,
      kind,
      scope,
      clock: this.#clock,
      random,
      log: this.#log,
      isServerOut,
      observer,
      arena: this.#arena,
      parsed: this.#parsed,
      freeze: this.#options.freeze ?? process.env.NODE_ENV !== "production",
      keepManagedFields,
      fieldManagers: this.#fieldManagers,
      transform: this.#options.transforms?.(kind),
      pageSize,
      throttle: this.#throttle,
    });
  }

  #all(): SharedInformer[] {
    return [...this.#shared.values()].flatMap((scopes) =>
      [...scopes.values()].map(({ informer }) => informer),
    );
  }

  #of(kind: AnyKind): SharedInformer[] {
    const scopes = this.#shared.get(kindIdOf(kind));
    return scopes ? [...scopes.values()].map(({ informer }) => informer) : [];
  }

  /** The informer that answers for an object. @throws CacheMissError if none can. */
  #holder(kind: AnyKind, key: ObjectKey): { readonly informer: SharedInformer; readonly namespace: string } {
    const namespace = kind.scope === "Cluster" ? "" : (key.namespace ?? "");
    const { name } = key;
    const ask = askOf(kind, { namespace: kind.scope === "Cluster" ? undefined : namespace, name });
    const complete = this.#complete(kind, ask);
    if (complete) return { informer: complete, namespace };
    // One that holds a part cannot know that an object does not exist, but it may know that it
    // does.
    const part = this.#of(kind).find(
      (informer) =>
        informer.hasSynced &&
        (!informer.scope.metadataOnly || ask.metadataOnly) &&
        informer.view.get(namespace, name) !== undefined,
    );
    if (part) return { informer: part, namespace };
    throw this.#miss(kind, ask);
  }

  /**
   * The informer that knows of everything that is asked for, if there is one, and it has synced.
   */
  #complete(kind: AnyKind, ask: Ask): SharedInformer | undefined {
    if (this.#isStopped) throw new CacheStoppedError();
    return this.#of(kind).find((informer) => informer.hasSynced && this.#covers(informer, ask));
  }

  #covers({ scope }: SharedInformer, ask: Ask): boolean {
    const { namespace } = ask;
    const isEverywhere = scope.namespace === undefined || scope.namespace === namespace;
    return isEverywhere && isComplete(scope, ask, this.#universe);
  }

  /** Those that together hold the namespaces that are held, where none holds them all. */
  #parts(kind: AnyKind, ask: Ask): readonly SharedInformer[] {
    if (ask.namespace !== undefined) return [];
    return this.#of(kind).filter(({ scope }) => isComplete(scope, ask, this.#universe));
  }

  /**
   * @throws CacheMissError if there is no informer that holds what is asked for, or none that has
   *   synced.
   */
  #gather<K extends AnyKind>(
    kind: K,
    ask: Ask,
    read: (informer: SharedInformer) => KubernetesObject[],
  ): readonly ObjectOf<K>[] {
    const complete = this.#complete(kind, ask);
    if (complete) return read(complete) as ObjectOf<K>[];
    const parts = this.#parts(kind, ask).filter((informer) => informer.hasSynced);
    if (parts.length === 0) throw this.#miss(kind, ask);
    const found = new Map<string, KubernetesObject>();
    for (const informer of parts) {
      for (const object of read(informer)) {
        const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
        if (!found.has(key)) found.set(key, object);
      }
    }
    return [...found.values()] as ObjectOf<K>[];
  }

  #miss(kind: AnyKind, ask: Ask): CacheMissError {
    const informers = this.#of(kind);
    const [coming] = [
      ...informers.filter((informer) => this.#covers(informer, ask)),
      ...this.#parts(kind, ask),
    ];
    if (coming) return notSynced(kind, coming);
    if (this.#options.readThrough) return this.#readThroughFor(kind);
    const { namespace } = ask;
    const reached = informers.filter(
      ({ scope }) => namespace === undefined || isInNamespace(scope, namespace),
    );
    const parts = [...new Set(reached.map(({ scope }) => partOf(scope)).filter((part) => part !== ""))];
    if (parts.length > 0)
      return new CacheMissError(
        kind,
        `informers hold only a part of it (${parts.join("; ")}); declare the kind in a controller in full, read the part through its informer, or read live with the client`,
      );
    const others = new Set(informers.flatMap(({ scope }) => scope.namespace ?? []));
    if (others.size > 0) return otherNamespace(kind, namespace, others);
    return new CacheMissError(
      kind,
      "no informer holds it; declare the kind in a controller (owns or watches), call cache.informer, or read live with the client",
    );
  }

  #readThroughFor(kind: AnyKind): CacheMissError {
    const id = kindIdOf(kind);
    let informer = this.#readThrough.get(id);
    if (!informer) {
      this.#log.warn(
        { kind: kind.kind },
        `a read of ${kind.kind}, which no controller watches, starts an informer that holds every ${kind.kind}; declare it, or read it live`,
      );
      informer = this.#open(kind, effectiveScope(kind, this.#universe));
      this.#readThrough.set(id, informer);
    }
    return new CacheMissError(kind, "an informer has been started and has not synced yet", informer.synced);
  }
}

function askOf(kind: AnyKind, ask: Partial<Ask> = {}): Ask {
  return { namespace: undefined, metadataOnly: kind.representation !== undefined, ...ask };
}

/** What is left of a scope for this kind: kinds without namespaces have none to choose. */
function effectiveScope(kind: AnyKind, scope: InformerScope): InformerScope {
  const { namespace, namespaces, labelSelector, fieldSelector } = scope;
  const isNamespaced = kind.scope === "Namespaced";
  return {
    ...(isNamespaced && namespace ? { namespace } : {}),
    ...(isNamespaced && !namespace && namespaces ? { namespaces } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(scope.metadataOnly || kind.representation !== undefined ? { metadataOnly: true } : {}),
  };
}

function scopeIdOf({ namespace, labelSelector, fieldSelector, metadataOnly = false }: InformerScope): string {
  return JSON.stringify([namespace, labelSelector, fieldSelector, metadataOnly]);
}
