import type { AnyKind, KeyOf, KubernetesObject, ObjectKey, ObjectOf } from "@windlass/client";
import type { Cache, CacheListOptions, Informer, InformerScope, OwnedFields } from "../cache/contract.ts";
import { kindIdOf } from "../cache/kind-id.ts";
import { keyId, keyOf } from "../reconcile/client.ts";

type AnyInformer = Informer<KubernetesObject>;

/**
 * The cache as one controller sees it. Kinds that it declared are read through the informers that
 * it asked for: by their selectors, whatever else other controllers watch of the kind. Other kinds,
 * and namespaces that those informers do not hold, are read from what the cache holds in full.
 */
export class DeclaredCache implements Cache {
  readonly #cache: Cache;
  readonly #informers = new Map<string, AnyInformer[]>();

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Reads through this informer from now on, for as long as its owner holds it. */
  declare(informer: AnyInformer): void {
    const id = kindIdOf(informer.kind);
    this.#informers.set(id, [...(this.#informers.get(id) ?? []), informer]);
  }

  get<K extends AnyKind>(kind: K, key: KeyOf<K>): ObjectOf<K> | undefined {
    let isHeld = false;
    for (const informer of this.#of(kind)) {
      if (!informer.holds(key)) continue;
      isHeld = true;
      const found = informer.get(key);
      if (found) return found as ObjectOf<K>;
    }
    return isHeld ? undefined : this.#cache.get(kind, key);
  }

  trackFieldManager(name: string): void {
    this.#cache.trackFieldManager(name);
  }

  ownedFields(kind: AnyKind, key: ObjectKey, manager: string, subresource?: string): OwnedFields | undefined {
    const holder = this.#of(kind).find((informer) => informer.holds(key) && informer.get(key) !== undefined);
    return holder
      ? holder.ownedFields(key, manager, subresource)
      : this.#cache.ownedFields(kind, key, manager, subresource);
  }

  list<K extends AnyKind>(kind: K, options: CacheListOptions = {}): readonly ObjectOf<K>[] {
    const { namespace } = options;
    const all = this.#of(kind);
    const holders = namespace ? all.filter((informer) => informer.holds({ namespace, name: "" })) : all;
    if (holders.length === 0) return this.#cache.list(kind, options);
    return union<K>(holders, (informer) => informer.list(options));
  }

  byIndex<K extends AnyKind>(kind: K, index: string, value: string): readonly ObjectOf<K>[] {
    const holders = this.#of(kind);
    if (holders.length === 0)
      return this.#cache.byIndex<AnyKind>(kind, index, value) as readonly ObjectOf<K>[];
    return union<K>(holders, (informer) => informer.byIndex(index, value));
  }

  ownedBy<K extends AnyKind>(kind: K, ownerUid: string): readonly ObjectOf<K>[] {
    const holders = this.#of(kind);
    if (holders.length === 0) return this.#cache.ownedBy(kind, ownerUid);
    return union<K>(holders, (informer) => informer.ownedBy(ownerUid));
  }

  informer<K extends AnyKind>(kind: K, scope?: InformerScope): Informer<ObjectOf<K>> {
    return this.#cache.informer(kind, scope);
  }

  waitForSync(signal?: AbortSignal): Promise<void> {
    return this.#cache.waitForSync(signal);
  }

  wrote(kind: AnyKind, object: KubernetesObject): void {
    this.#cache.wrote(kind, object);
  }

  deleted(kind: AnyKind, object: KubernetesObject, options?: { readonly isCertain?: boolean }): void {
    this.#cache.deleted(kind, object, options);
  }

  barrier(kind: AnyKind, signal?: AbortSignal): Promise<void> {
    return this.#cache.barrier(kind, signal);
  }

  stop(): Promise<void> {
    return this.#cache.stop();
  }

  /**
   * Metadata alone answers for a kind only where the controller declared it no other way, or asks
   * for no more.
   */
  #of(kind: AnyKind): readonly AnyInformer[] {
    const informers = this.#informers.get(kindIdOf(kind)) ?? [];
    if (kind.representation !== undefined || informers.length < 2) return informers;
    const full = informers.filter(({ scope }) => !scope.metadataOnly);
    return full.length > 0 ? full : informers;
  }
}

function union<K extends AnyKind>(
  informers: readonly AnyInformer[],
  read: (informer: AnyInformer) => readonly KubernetesObject[],
): readonly ObjectOf<K>[] {
  const [only] = informers;
  if (only && informers.length === 1) return read(only) as readonly ObjectOf<K>[];
  const found = new Map<string, KubernetesObject>();
  for (const object of informers.flatMap(read)) {
    const id = keyId(keyOf(object));
    if (!found.has(id)) found.set(id, object);
  }
  return [...found.values()] as ObjectOf<K>[];
}
