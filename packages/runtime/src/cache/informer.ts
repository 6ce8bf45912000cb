import type { AnyKind, KubernetesObject, ObjectKey } from "@windlass/client";
import type {
  CacheEvent,
  CacheListOptions,
  Informer,
  InformerScope,
  Namespaces,
  OwnedFields,
} from "./contract.ts";
import { isInNamespace } from "./coverage.ts";
import { CacheStoppedError, notSynced, otherNamespace } from "./errors.ts";
import type { InformerStatus } from "./metrics.ts";
import type { SharedInformer } from "./shared-informer.ts";
import type { IndexFunction } from "./store.ts";
import type { Handler } from "./subscribers.ts";
import { everything, selectionOf, type View } from "./view.ts";

type ObjectHandler = (event: CacheEvent<KubernetesObject>) => void;

/** An informer that says what it is doing. */
export interface LiveInformer<T extends KubernetesObject> extends Informer<T> {
  /**
   * A kind that is not installed is `missing`: it counts as synced and empty, and is watched once
   * it appears.
   */
  readonly status: InformerStatus;
}

/**
 * One user's hold on a shared informer. Releasing it ends this user's subscriptions, and nothing
 * else.
 */
export class InformerHandle implements LiveInformer<KubernetesObject> {
  readonly #shared: SharedInformer;
  readonly #onRelease: () => void;
  readonly #subscriptions = new Set<() => void>();
  #isReleased = false;

  constructor(shared: SharedInformer, onRelease: () => void) {
    this.#shared = shared;
    this.#onRelease = onRelease;
  }

  get kind(): AnyKind {
    return this.#shared.kind;
  }

  get scope(): InformerScope {
    return this.#shared.scope;
  }

  get synced(): Promise<void> {
    return this.#shared.synced;
  }

  get hasSynced(): boolean {
    return this.#shared.hasSynced;
  }

  get status(): InformerStatus {
    return this.#shared.status;
  }

  subscribe(handler: ObjectHandler): () => void {
    const stop = this.#shared.subscribe(handler);
    this.#subscriptions.add(stop);
    return () => {
      this.#subscriptions.delete(stop);
      stop();
    };
  }

  addIndex(name: string, values: IndexFunction): void {
    this.#shared.view.addIndex(name, values);
  }

  holds({ namespace = "" }: ObjectKey): boolean {
    return this.#shared.hasSynced && this.#hasNamespace(namespace);
  }

  get(key: ObjectKey): KubernetesObject | undefined {
    const namespace = this.kind.scope === "Cluster" ? "" : (key.namespace ?? "");
    return this.#readable(namespace).get(namespace, key.name);
  }

  ownedFields(key: ObjectKey, manager: string, subresource = ""): OwnedFields | undefined {
    const namespace = this.kind.scope === "Cluster" ? "" : (key.namespace ?? "");
    this.#readable(namespace);
    return this.#shared.ownedFields(namespace, key.name, manager, subresource);
  }

  list(options: CacheListOptions = {}): readonly KubernetesObject[] {
    const selection = selectionOf(this.kind, options);
    return this.#readable(selection.namespace).list(selection);
  }

  byIndex(index: string, value: string): readonly KubernetesObject[] {
    return this.#readable().byIndex(index, value, everything);
  }

  ownedBy(ownerUid: string): readonly KubernetesObject[] {
    return this.#readable().ownedBy(ownerUid, everything);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const stop of this.#subscriptions) stop();
    this.#subscriptions.clear();
    this.#onRelease();
  }

  /** @param namespace undefined for all that it holds */
  #readable(namespace?: string): View {
    if (this.#isReleased) throw new CacheStoppedError();
    if (namespace !== undefined && !this.#hasNamespace(namespace))
      throw otherNamespace(this.kind, namespace, [this.scope.namespace ?? ""]);
    if (!this.#shared.hasSynced) throw notSynced(this.kind, this.#shared);
    return this.#shared.view;
  }

  #hasNamespace(namespace: string): boolean {
    return this.kind.scope === "Cluster" || isInNamespace(this.scope, namespace);
  }
}

/** Informers of several namespaces as one. Namespaces come and go while it is in use. */
export class CompositeInformer implements LiveInformer<KubernetesObject> {
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  readonly synced: Promise<void>;
  readonly #namespaces: Namespaces;
  readonly #open: (namespace: string) => InformerHandle;
  readonly #members = new Map<string, InformerHandle>();
  readonly #handlers = new Map<Handler, Map<string, () => void>>();
  readonly #indexes = new Map<string, IndexFunction>();
  readonly #unsubscribe: () => void;
  readonly #onRelease: () => void;
  readonly #onError: (error: unknown) => void;
  #changed = Promise.withResolvers<void>();
  #hasSynced = false;
  #isReleased = false;

  constructor(
    kind: AnyKind,
    scope: InformerScope,
    namespaces: Namespaces,
    open: (namespace: string) => InformerHandle,
    hooks: { readonly onRelease: () => void; readonly onError: (error: unknown) => void },
  ) {
    this.kind = kind;
    this.scope = scope;
    this.#namespaces = namespaces;
    this.#open = open;
    this.#onRelease = hooks.onRelease;
    this.#onError = hooks.onError;
    this.#unsubscribe = namespaces.subscribe(() => this.#follow());
    this.#follow();
    this.synced = this.#sync();
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get status(): InformerStatus {
    const members = [...this.#members.values()].map((member) => member.status);
    return (
      members.find((status) => status.at !== "watching") ??
      members[0] ?? { at: "watching", message: "no namespace is chosen" }
    );
  }

  subscribe(handler: ObjectHandler): () => void {
    // A handler given twice is two subscriptions.
    const own: Handler = (event) => handler(event);
    const subscriptions = new Map<string, () => void>();
    this.#handlers.set(own, subscriptions);
    for (const [namespace, member] of this.#members) subscriptions.set(namespace, member.subscribe(own));
    return () => {
      this.#handlers.delete(own);
      for (const stop of subscriptions.values()) stop();
    };
  }

  addIndex(name: string, values: IndexFunction): void {
    for (const member of this.#members.values()) member.addIndex(name, values);
    this.#indexes.set(name, values);
  }

  holds({ namespace = "" }: ObjectKey): boolean {
    return this.#members.get(namespace)?.hasSynced ?? false;
  }

  get(key: ObjectKey): KubernetesObject | undefined {
    return this.#member(key.namespace ?? "").get(key);
  }

  ownedFields(key: ObjectKey, manager: string, subresource?: string): OwnedFields | undefined {
    return this.#member(key.namespace ?? "").ownedFields(key, manager, subresource);
  }

  list(options: CacheListOptions = {}): readonly KubernetesObject[] {
    return options.namespace
      ? this.#member(options.namespace).list(options)
      : this.#synced().flatMap((member) => member.list(options));
  }

  byIndex(index: string, value: string): readonly KubernetesObject[] {
    return this.#synced().flatMap((member) => member.byIndex(index, value));
  }

  ownedBy(ownerUid: string): readonly KubernetesObject[] {
    return this.#synced().flatMap((member) => member.ownedBy(ownerUid));
  }

  release(): void {
    this.#isReleased = true;
    this.#unsubscribe();
    this.#handlers.clear();
    for (const member of this.#members.values()) member.release();
    this.#members.clear();
    this.#onRelease();
  }

  #member(namespace: string): InformerHandle {
    if (this.#isReleased) throw new CacheStoppedError();
    const member = this.#members.get(namespace);
    if (!member) throw otherNamespace(this.kind, namespace, this.#members.keys());
    return member;
  }

  /** A namespace that has joined counts once its first list is here. */
  #synced(): readonly InformerHandle[] {
    if (this.#isReleased) throw new CacheStoppedError();
    if (!this.#hasSynced) throw notSynced(this.kind, this);
    return [...this.#members.values()].filter((member) => member.hasSynced);
  }

  async #sync(): Promise<void> {
    await this.#namespaces.ready;
    for (;;) {
      const waiting = [...this.#members.values()].filter((member) => !member.hasSynced);
      if (waiting.length === 0) break;
      // A namespace that leaves meanwhile is not waited for.
      await Promise.race([Promise.all(waiting.map((member) => member.synced)), this.#changed.promise]);
    }
    this.#hasSynced = true;
  }

  #follow(): void {
    const { names } = this.#namespaces;
    for (const [namespace, member] of this.#members) {
      if (names.has(namespace)) continue;
      this.#members.delete(namespace);
      this.#leave(namespace, member);
    }
    for (const namespace of names) {
      if (this.#members.has(namespace)) continue;
      const member = this.#open(namespace);
      this.#members.set(namespace, member);
      for (const [name, values] of this.#indexes) member.addIndex(name, values);
      for (const [handler, subscriptions] of this.#handlers)
        subscriptions.set(namespace, member.subscribe(handler));
    }
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #leave(namespace: string, member: InformerHandle): void {
    const objects = this.#handlers.size > 0 && member.hasSynced ? member.list() : [];
    for (const subscriptions of this.#handlers.values()) {
      subscriptions.get(namespace)?.();
      subscriptions.delete(namespace);
    }
    member.release();
    for (const handler of this.#handlers.keys()) for (const object of objects) this.#tell(handler, object);
  }

  #tell(handler: Handler, object: KubernetesObject): void {
    try {
      handler({ type: "deleted", object });
    } catch (error) {
      this.#onError(error);
    }
  }
}
