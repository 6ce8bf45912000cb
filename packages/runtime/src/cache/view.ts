import type { AnyKind, KubernetesObject, Log } from "@windlass/client";
import { describeKind } from "./errors.ts";
import { type KeptFields, ownersOf } from "./field-managers.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { Overlay } from "./overlay.ts";
import type { LabelFilter } from "./selector.ts";
import { type IndexFunction, indexValues, Store } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";

/** What a read asks for beside the kind. */
export interface Selection {
  readonly namespace: string | undefined;
  readonly labels: LabelFilter | undefined;
}

const always = () => true;

/** What readers see of one kind and scope: what the watch brought, with what we wrote since laid over it. */
export class View {
  readonly #kind: AnyKind;
  readonly #log: Log;
  readonly #reader: ObjectReader;
  readonly #overlay: Overlay;
  readonly #indexes: IndexFunction[] = [];
  readonly #indexNames = new Map<string, number>();
  /** What the watch brought. */
  store: Store;
  /** What is being listed, to take the place of the store once it is complete. */
  collecting: Store | undefined;

  constructor(options: {
    readonly kind: AnyKind;
    readonly log: Log;
    readonly reader: ObjectReader;
    readonly overlay: Overlay;
  }) {
    this.#kind = options.kind;
    this.#log = options.log;
    this.#reader = options.reader;
    this.#overlay = options.overlay;
    this.store = this.newStore();
  }

  /** An empty one, with all indexes. */
  newStore(): Store {
    return new Store(this.#reader, this.#indexes, this.#onIndexError);
  }

  get(namespace: string, name: string): KubernetesObject | undefined {
    if (this.#overlay.size > 0) {
      const write = this.#overlay.get(namespace, name);
      if (write) return write.object;
    }
    const stored = this.store.get(namespace, name);
    return stored && !this.#isHidden(stored) ? this.#reader.read(stored) : undefined;
  }

  /** What is kept of who owns the fields of an object; undefined if there is no such object. */
  keptFields(namespace: string, name: string): KeptFields | undefined {
    const write = this.#overlay.get(namespace, name);
    if (write) {
      const { object, owned = "" } = write;
      return object && { owned, owners: ownersOf(object.metadata) };
    }
    const stored = this.store.get(namespace, name);
    return stored && !this.#isHidden(stored) ? stored : undefined;
  }

  list(selection: Selection): KubernetesObject[] {
    return this.#gather(this.store.values(selection.namespace), selection, always);
  }

  ownedBy(uid: string, selection: Selection): KubernetesObject[] {
    return this.#gather(
      this.store.ownedBy(uid),
      selection,
      (object) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false,
    );
  }

  get indexNames(): readonly string[] {
    return [...this.#indexNames.keys()];
  }

  hasIndex(name: string): boolean {
    return this.#indexNames.has(name);
  }

  byIndex(name: string, value: string, selection: Selection): KubernetesObject[] {
    const position = this.#indexNames.get(name);
    const values = position === undefined ? undefined : this.#indexes[position];
    if (position === undefined || !values) return [];
    return this.#gather(this.store.byIndex(position, value), selection, (object) =>
      indexValues(values, object, this.#onIndexError).includes(value),
    );
  }

  /** @throws TypeError if the name is taken by another function. */
  addIndex(name: string, values: IndexFunction): void {
    const position = this.#indexNames.get(name);
    if (position !== undefined) {
      if (this.#indexes[position] === values) return;
      throw new TypeError(
        `${describeKind(this.#kind)} has an index ${JSON.stringify(name)} already, by another function; choose another name`,
      );
    }
    this.#indexNames.set(name, this.#indexes.length);
    this.#indexes.push(values);
    this.store.addIndex(values);
    this.collecting?.addIndex(values);
  }

  #gather(
    from: Iterable<StoredObject>,
    { namespace, labels }: Selection,
    isWanted: (object: KubernetesObject) => boolean,
  ): KubernetesObject[] {
    const found: KubernetesObject[] = [];
    for (const stored of from) {
      if (namespace !== undefined && stored.namespace !== namespace) continue;
      if (this.#isHidden(stored) || (labels && !labels(this.#reader.labels(stored)))) continue;
      found.push(this.#reader.read(stored));
    }
    if (this.#overlay.size === 0) return found;
    for (const { namespace: place, object } of this.#overlay.writes()) {
      if (!object || (namespace !== undefined && place !== namespace)) continue;
      if (labels && !labels(object.metadata.labels ?? {})) continue;
      if (isWanted(object)) found.push(object);
    }
    return found;
  }

  #isHidden(stored: StoredObject): boolean {
    return this.#overlay.size > 0 && this.#overlay.hides(stored);
  }

  readonly #onIndexError = (error: unknown): void => {
    this.#log.error(
      { err: error, kind: this.#kind.kind },
      "an index function threw; the object is left out of that index",
    );
  };
}
