import {
  type AnyKind,
  compareResourceVersions,
  type KubernetesObject,
  type Log,
  metadataOnly,
} from "@windlass/client";
import { MalformedMessageError, type MessageType, messageOf, readMessage } from "@windlass/client/protobuf";
import type { Clock, Random } from "@windlass/clock";
import type { LogThrottle } from "../logging/log-throttle.ts";
import { type Arenas, loose } from "./arena.ts";
import type { CacheEvent, InformerScope, OwnedFields } from "./contract.ts";
import { describeKind } from "./errors.ts";
import { FailureLog } from "./failure-log.ts";
import type { FieldManagers } from "./field-managers.ts";
import type { ListWatcher } from "./list-watcher.ts";
import type { CacheObserver, InformerStats, InformerStatus } from "./metrics.ts";
import { ObjectReader, type ParsedObjects } from "./object-reader.ts";
import { Overlay, type OwnWrite } from "./overlay.ts";
import { Pace, turn } from "./pace.ts";
import type { Received } from "./received.ts";
import type { ListStart, Opening, ReflectorState } from "./reflector.ts";
import { type ChangeType, Reflector, type ReflectorSink } from "./reflector-run.ts";
import { type FieldFilter, type LabelFilter, parseFields, parseLabels } from "./selector.ts";
import type { Store } from "./store.ts";
import { Added, Gone, Updated } from "./stored-events.ts";
import { type Intake, prepare, type StoredObject, takeIn } from "./stored-object.ts";
import { type Handler, Subscribers } from "./subscribers.ts";
import type { Transform } from "./transform.ts";
import { guardTransform } from "./transform.ts";
import { View } from "./view.ts";

/** What a shared informer is made from. */
export interface SharedInformerOptions {
  readonly source: ListWatcher;
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly isServerOut: () => boolean;
  readonly observer: CacheObserver;
  readonly arena: Arenas;
  readonly parsed: ParsedObjects;
  readonly freeze: boolean;
  readonly keepManagedFields: boolean;
  readonly fieldManagers: FieldManagers;
  readonly transform: Transform | undefined;
  readonly pageSize: number;
  /** Of the whole cache. */
  readonly throttle: LogThrottle;
}

const always = () => true;

/**
 * The objects of one kind and scope: what the watch brought, what we wrote since, and its
 * subscribers.
 */
export class SharedInformer implements ReflectorSink {
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  readonly synced: Promise<void>;
  /** For reading. */
  readonly view: View;
  readonly #options: SharedInformerOptions;
  readonly #reader: ObjectReader;
  readonly #intake: Intake;
  readonly #overlay = new Overlay();
  readonly #subscribers: Subscribers;
  readonly #matchesLabels: LabelFilter;
  readonly #matchesFields: FieldFilter;
  readonly #abort = new AbortController();
  readonly #resolveSynced: () => void;
  readonly #failureLog: FailureLog;
  #seen: string | undefined;
  #hasSynced = false;
  #readsJson = false;
  #hasWatched = false;
  #isMissing = false;
  #run: Promise<void> | undefined;
  #reflector: Reflector | undefined;
  #status: InformerStatus = { at: "starting", message: "not started" };
  #heardAt: number;
  #listStartedAt = 0;
  /**
   * Whether an object of the list under way may be treated as the one that is held, where their
   * versions are the same.
   */
  #reusesHeld = true;
  /** Our writes up to this one are shown by the list under way, whatever its version. */
  #shownWrites = 0;
  /** Our writes up to this one had been answered when the last bookmark came. */
  #writesAtBookmark = 0;
  #listing: "stream" | "pages" = "stream";

  /** @throws SelectorError if the scope's selectors do not parse. */
  constructor(options: SharedInformerOptions) {
    const { kind, scope, arena, keepManagedFields, fieldManagers, transform } = options;
    this.#options = options;
    this.kind = kind;
    this.scope = scope;
    const { parsed, freeze } = options;
    const read = this.#messageReader();
    this.#reader = new ObjectReader({ kind, arena, parsed, freeze, readMessage: read });
    const { log, throttle } = options;
    this.view = new View({ kind, log, reader: this.#reader, overlay: this.#overlay, throttle });
    const guarded = transform && guardTransform(transform, options);
    this.#intake = { arena, keepManagedFields, fieldManagers, transform: guarded, readMessage: read };
    this.#matchesLabels = scope.labelSelector === undefined ? always : parseLabels(scope.labelSelector);
    this.#matchesFields = scope.fieldSelector === undefined ? always : parseFields(scope.fieldSelector);
    this.#subscribers = new Subscribers(options.clock, (error) =>
      options.log.error({ err: error, kind: kind.kind }, "a handler of cache events threw; the others go on"),
    );
    this.#failureLog = new FailureLog(options);
    this.#heardAt = options.clock.monotonic();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#resolveSynced = resolve;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get status(): InformerStatus {
    return this.#status;
  }

  start(): void {
    if (this.#run) return;
    const { source, kind, scope, clock, random, pageSize, log } = this.#options;
    this.#reflector = new Reflector(
      { source, kind, scope, clock, random, pageSize, sink: this },
      this.#abort.signal,
    );
    this.#run = this.#reflector.run().catch((error: unknown) => {
      log.error(
        { err: error, kind: kind.kind },
        "the informer failed and holds still; this is a fault in the cache",
      );
    });
  }

  /** Ends the watch. Objects can still be read by those who hold them. */
  async stop(): Promise<void> {
    this.#status = { at: "stopped", message: "stopped" };
    this.#abort.abort();
    this.#subscribers.clear();
    await this.#run;
    for (const stored of this.view.replace(this.view.newStore()).values()) this.#release(stored);
    this.#dropCollected();
    this.#overlay.clear();
  }

  stats(): InformerStats {
    return {
      kind: this.kind,
      scope: this.scope,
      items: this.view.store.size,
      bytes: this.view.store.bytes,
      pendingWrites: this.#overlay.size,
      staleSeconds: (this.#options.clock.monotonic() - this.#heardAt) / 1000,
      resourceVersion: this.#seen,
      status: this.#status,
    };
  }

  subscribe(handler: Handler): () => void {
    return this.#subscribers.add(handler, this.#hasSynced ? this.#replay() : []);
  }

  /**
   * What a field manager owns of the object that the view shows. Undefined if it owns nothing, or
   * is not tracked.
   */
  ownedFields(
    namespace: string,
    name: string,
    manager: string,
    subresource: string,
  ): OwnedFields | undefined {
    const kept = this.view.keptFields(namespace, name);
    return kept && this.#options.fieldManagers.ownedFields(kept, manager, subresource);
  }

  // Our own writes.

  wrote(object: KubernetesObject): void {
    const { namespace = "", name, uid = "", resourceVersion = "" } = object.metadata;
    if (!this.#isInNamespace(namespace) || resourceVersion === "") return;
    const held = this.view.store.get(namespace, name);
    const isSelected = this.#matchesLabels(object.metadata.labels ?? {}) && this.#matchesFields(object);
    // What was never here, and is not now, has nothing to hide.
    if (!isSelected && !held && !this.#overlay.get(namespace, name)) return;
    this.#overlay.wrote(
      {
        namespace,
        name,
        uid,
        version: resourceVersion,
        object: isSelected ? this.#ours(object) : undefined,
        owned: this.#options.fieldManagers.inObject(object),
      },
      { held, seen: this.#seen },
    );
  }

  deleted(object: KubernetesObject, isCertain: boolean): void {
    const { namespace = "", name, uid = "", resourceVersion = "", finalizers } = object.metadata;
    const isDying =
      object.metadata.deletionTimestamp !== undefined &&
      (object.metadata.deletionGracePeriodSeconds ?? 0) > 0;
    if (finalizers?.length || isDying) {
      this.wrote(object);
      return;
    }
    if (!this.#isInNamespace(namespace)) return;
    this.#overlay.deleted(
      { namespace, name, uid, version: resourceVersion, object: undefined, isCertain },
      { held: this.view.store.get(namespace, name), seen: this.#seen },
    );
  }

  barrier(signal?: AbortSignal): Promise<void> {
    return this.#overlay.passed(signal);
  }

  // What the reflector brings.

  begin({ reusesHeld, isConsistent }: ListStart): void {
    this.#dropCollected();
    this.#listStartedAt = this.#options.clock.monotonic();
    this.#reusesHeld = reusesHeld;
    this.#shownWrites = isConsistent ? this.#overlay.lastWrite : 0;
  }

  collect(type: ChangeType, object: Received): void {
    const collecting = this.view.collecting();
    const intake = type === "DELETED" ? { ...this.#intake, arena: loose } : this.#intake;
    const known = (namespace: string, name: string) =>
      this.#reusesHeld ? this.view.store.get(namespace, name) : undefined;
    const stored = takeIn(intake, object, known);
    const earlier = collecting.get(stored.namespace, stored.name);
    if (earlier === stored) return;
    if (type === "DELETED") {
      if (earlier) collecting.delete(earlier);
    } else collecting.set(stored);
    if (earlier && this.view.store.get(earlier.namespace, earlier.name) !== earlier) this.#release(earlier);
  }

  async commit(version: string): Promise<void> {
    const next = this.view.takeCollected() ?? this.view.newStore();
    const seconds = (this.#options.clock.monotonic() - this.#listStartedAt) / 1000;
    await this.#replace(next, version);
    this.#options.observer.listed?.(this, seconds, this.#listing);
    this.#hasWatched ||= this.#listing === "stream";
  }

  async clear(): Promise<void> {
    if (!this.#isMissing)
      this.#options.log.warn(
        { kind: this.kind.kind },
        `${describeKind(this.kind)} is not installed on the server: ${wayToInstall(this.kind)}; until then it counts as having no objects, and it is taken up when it appears`,
      );
    this.#isMissing = true;
    this.#dropCollected();
    this.#overlay.clear();
    await this.#replace(this.view.newStore(), undefined);
  }

  change(type: ChangeType, object: Received): void {
    if (type === "DELETED") this.#remove(object);
    else this.#put(object);
  }

  bookmark(version: string): void {
    this.#sawVersion(version);
    this.#overlay.sawBookmark(version, this.#isHeld);
    // Answered before the bookmark of a minute ago, and not even this one has come as far: then it
    // was lost when the server went back.
    if (this.#overlay.hasPending(this.#writesAtBookmark))
      this.#reflector?.distrust("the server is at an earlier version than a write that it answered");
    this.#writesAtBookmark = this.#overlay.lastWrite;
  }

  opening(opening: Opening): void {
    this.#listing = opening.as === "list" ? "pages" : "stream";
    if (opening.as !== "watch") return;
    if (this.#hasWatched) this.#options.observer.watchRestarted?.(this);
    this.#hasWatched = true;
  }

  heard(now: number): void {
    this.#heardAt = now;
    this.#failureLog.heard();
  }

  moved(state: ReflectorState): void {
    if (this.#abort.signal.aborted) return;
    if (state.at !== "waiting") {
      const at = state.at === "watching" ? "watching" : state.at === "stopped" ? "starting" : "listing";
      if (at === "watching" && this.#isMissing) {
        this.#isMissing = false;
        this.#options.log.info({ kind: this.kind.kind }, `${describeKind(this.kind)} is installed now`);
      }
      if (!this.#isMissing) this.#status = { at, message: at };
      return;
    }
    const { why } = state;
    this.#options.observer.failed?.(this, why.message);
    if (why.is === "missing") {
      this.#status = { at: "missing", message: "the kind is not installed on the server" };
      return;
    }
    this.#status = { at: "waiting", message: why.message };
    this.#failureLog.failed(state.next, why, state.failures);
  }

  // Inside.

  /**
   * Reads messages of the kind. A server that was replaced by a newer one may send fields that are
   * not known: then it is asked for JSON.
   */
  #messageReader(): Intake["readMessage"] {
    const { kind, scope, log } = this.#options;
    let message: MessageType | undefined;
    const onUnknownField = () => {
      if (this.#readsJson) return;
      this.#readsJson = true;
      log.info(
        { kind: kind.kind },
        "the server is newer than the protobuf that is known here: reading JSON from now on",
      );
      this.#reflector?.readJson();
    };
    return (bytes, start, end) => {
      message ??= messageOf(scope.metadataOnly ? metadataOnly(kind) : kind);
      if (!message) throw new MalformedMessageError("its kind has no message that is known");
      return readMessage(message, bytes, start, end, { onUnknownField });
    };
  }

  #dropCollected(): void {
    for (const stored of this.view.takeCollected()?.values() ?? [])
      if (this.view.store.get(stored.namespace, stored.name) !== stored) this.#release(stored);
  }

  #put(object: Received): void {
    const { observer } = this.#options;
    const known = (namespace: string, name: string) => this.view.store.get(namespace, name);
    const stored = takeIn(this.#intake, object, known);
    const { namespace, name, uid, resourceVersion } = stored;
    const held = this.view.store.get(namespace, name);
    const isReplay = held !== undefined && held.uid === uid && isOlder(resourceVersion, held.resourceVersion);
    if (isReplay) this.#release(stored);
    if (held === stored || isReplay) {
      this.#overlay.sawObject(namespace, name, uid, resourceVersion);
      return;
    }
    this.view.store.set(stored);
    this.#sawVersion(resourceVersion);
    this.#overlay.sawObject(namespace, name, uid, resourceVersion);
    if (held && held.uid === uid) {
      observer.changed?.(this, "updated");
      this.#subscribers.tell(this.#updated(stored, held));
    } else {
      if (held) {
        observer.changed?.(this, "deleted");
        this.#subscribers.tell(this.#gone(held));
      }
      observer.changed?.(this, "added");
      this.#subscribers.tell(this.#added(stored, false));
    }
    if (held) this.#release(held);
  }

  #remove(object: Received): void {
    const last = takeIn({ ...this.#intake, arena: loose }, object, () => undefined);
    const { namespace, name, uid, resourceVersion } = last;
    const held = this.view.store.get(namespace, name);
    if (held?.uid === uid) {
      this.view.store.delete(held);
      this.#release(held);
    }
    this.#sawVersion(resourceVersion);
    this.#overlay.sawDelete(namespace, name, uid, resourceVersion);
    if (held?.uid === uid) {
      this.#options.observer.changed?.(this, "deleted");
      this.#subscribers.tell(this.#gone(last));
    }
  }

  /** Puts another store in the place of the present one, then reports the differences. */
  async #replace(next: Store, version: string | undefined): Promise<void> {
    const initial = !this.#hasSynced;
    const audience = this.#subscribers.present();
    const pace = new Pace(this.#options.clock);
    const before = this.view.replace(next);
    this.#seen = version;
    this.#hasSynced = true;
    if (version !== undefined) this.#overlay.sawList(version, this.#isHeld, this.#shownWrites);
    for (const old of before.values()) {
      pace.begin();
      if (next.get(old.namespace, old.name)?.uid !== old.uid) {
        this.#options.observer.changed?.(this, "deleted");
        audience.tell(this.#gone(old));
        this.#release(old);
      }
      if (pace.isSliceOver()) await turn();
    }
    for (const stored of next.values()) {
      pace.begin();
      const old = initial ? undefined : before.get(stored.namespace, stored.name);
      if (old?.uid !== stored.uid) {
        this.#options.observer.changed?.(this, "added");
        audience.tell(this.#added(stored, initial));
      } else if (old !== stored) {
        this.#options.observer.changed?.(this, "updated");
        audience.tell(this.#updated(stored, old));
        this.#release(old);
      }
      if (pace.isSliceOver()) await turn();
    }
    if (initial) this.#resolveSynced();
  }

  /**
   * An object is no longer cached. After its subscribers were notified, so that they need not read
   * it again.
   */
  #release(stored: StoredObject): void {
    this.#options.arena.release(stored);
    this.#options.parsed.forget(stored);
  }

  *#replay(): Generator<CacheEvent<KubernetesObject>> {
    const snapshot = [...this.view.store.values()];
    for (const stored of snapshot) yield this.#added(stored, true);
  }

  #added(stored: StoredObject, initial: boolean): CacheEvent<KubernetesObject> {
    return new Added(this.#reader, stored, initial);
  }

  #updated(stored: StoredObject, before: StoredObject): CacheEvent<KubernetesObject> {
    return new Updated(this.#reader, stored, before);
  }

  #gone(stored: StoredObject): CacheEvent<KubernetesObject> {
    return new Gone(this.#reader, stored);
  }

  /** A write of ours in the form in which the watch will bring it. */
  #ours(object: KubernetesObject): KubernetesObject {
    const { apiVersion, kind, metadata } = object;
    const partial = this.scope.metadataOnly
      ? {
          ...(apiVersion === undefined ? {} : { apiVersion }),
          ...(kind === undefined ? {} : { kind }),
          metadata,
        }
      : object;
    // What the caller holds is the caller's: it must not find itself frozen.
    return this.#reader.finish(
      prepare(this.#intake, this.#options.freeze ? structuredClone(partial) : partial),
    );
  }

  #isInNamespace(namespace: string): boolean {
    return this.scope.namespace === undefined || this.scope.namespace === namespace;
  }

  readonly #isHeld = (write: OwnWrite): boolean =>
    this.view.store.get(write.namespace, write.name)?.uid === write.uid;

  #sawVersion(version: string): void {
    if (version !== "" && (this.#seen === undefined || !isOlder(version, this.#seen))) this.#seen = version;
  }
}

/**
 * Groups without a domain are Kubernetes' own and have no definition; of those under k8s.io some
 * have.
 */
function wayToInstall({ group, version, plural }: AnyKind): string {
  const newer = `a server that serves ${version} of it`;
  if (!group.includes(".")) return `it needs ${newer}`;
  const definition = `install its CustomResourceDefinition, ${plural}.${group}`;
  return group.endsWith(".k8s.io") ? `${definition}, or use ${newer}` : definition;
}

function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order < 0;
}
