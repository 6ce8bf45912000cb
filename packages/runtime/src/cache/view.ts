import type { AnyKind, KubernetesObject, Log } from "@windlass/client";
import { countOf, type LogThrottle } from "../logging/log-throttle.ts";
import type { CacheListOptions } from "./contract.ts";
import { describeKind } from "./errors.ts";
import { type KeptFields, ownersOf } from "./field-managers.ts";
import { kindIdOf } from "./kind-id.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { Overlay } from "./overlay.ts";
import { type LabelFilter, parseLabels } from "./selector.ts";
import { type Index, type IndexFunction, indexValues, type OnIndexError, Store } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";

/** What a read asks for beside the kind. */
export interface Selection {
  readonly namespace: string | undefined;
  readonly labels: LabelFilter | undefined;
}

/** What a list of a kind asks for. @throws SelectorError if its label selector does not parse. */
export function selectionOf(kind: AnyKind, { namespace, labelSelector }: CacheListOptions): Selection {
  return {
    namespace: kind.scope === "Cluster" || namespace === "" ? undefined : namespace,
    labels: labelSelector === undefined || labelSelector === "" ? undefined : parseLabels(labelSelector),
  };
}

/** Asks for all there is. */
export const everything: Selection = { namespace: undefined, labels: undefined };

const always = () => true;

/**
 * What readers see of one kind and scope: what the watch brought, with what we wrote since laid
 * over it.
 */
export class View {
  readonly #kind: AnyKind;
  readonly #log: Log;
  readonly #reader: ObjectReader;
  readonly #overlay: Overlay;
  readonly #throttle: LogThrottle;
  readonly #indexes: Index[] = [];
  readonly #indexNames = new Map<string, number>();
  #store: Store;
  /** What is being listed, to replace the store once it is complete. */
  #collecting: Store | undefined;

  constructor(options: {
    readonly kind: AnyKind;
    readonly log: Log;
    readonly reader: ObjectReader;
    readonly overlay: Overlay;
    readonly throttle: LogThrottle;
  }) {
    this.#kind = options.kind;
    this.#log = options.log;
    this.#reader = options.reader;
    this.#overlay = options.overlay;
    this.#throttle = options.throttle;
    this.#store = this.newStore();
  }

  /** What the watch brought. */
  get store(): Store {
    return this.#store;
  }

  /** Puts another store in the place of the present one. @returns the one that was replaced */
  replace(next: Store): Store {
    const before = this.#store;
    this.#store = next;
    return before;
  }

  /** Where the objects of the list under way are collected. */
  collecting(): Store {
    this.#collecting ??= this.newStore();
    return this.#collecting;
  }

  /** Ends the list under way. @returns what was collected of it; undefined if nothing was */
  takeCollected(): Store | undefined {
    const collected = this.#collecting;
    this.#collecting = undefined;
    return collected;
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
    const stored = this.#store.get(namespace, name);
    return stored && !this.#isHidden(stored) ? this.#reader.read(stored) : undefined;
  }

  /** What is kept of who owns the fields of an object; undefined if there is no such object. */
  keptFields(namespace: string, name: string): KeptFields | undefined {
    const write = this.#overlay.get(namespace, name);
    if (write) {
      const { object, owned = "" } = write;
      return object && { owned, owners: ownersOf(object.metadata) };
    }
    const stored = this.#store.get(namespace, name);
    return stored && !this.#isHidden(stored) ? stored : undefined;
  }

  list(selection: Selection): KubernetesObject[] {
    return this.#gather(this.#store.values(selection.namespace), selection, always);
  }

  ownedBy(uid: string, selection: Selection): KubernetesObject[] {
    return this.#gather(
      this.#store.ownedBy(uid),
      selection,
      (object) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false,
    );
  }

  /** @throws TypeError if there is no such index. */
  byIndex(name: string, value: string, selection: Selection): KubernetesObject[] {
    const position = this.#indexNames.get(name);
    const index = position === undefined ? undefined : this.#indexes[position];
    if (position === undefined || !index) throw this.#noIndex(name);
    return this.#gather(this.#store.byIndex(position, value), selection, (object) =>
      indexValues(index, object, this.#onIndexError).includes(value),
    );
  }

  /** @throws TypeError if the name is taken by another function. */
  addIndex(name: string, values: IndexFunction): void {
    const position = this.#indexNames.get(name);
    if (position !== undefined) {
      if (this.#indexes[position]?.values === values) return;
      throw new TypeError(
        `${describeKind(this.#kind)} has an index ${JSON.stringify(name)} already, by another function; choose another name`,
      );
    }
    this.#indexNames.set(name, this.#indexes.length);
    const index = { name, values };
    this.#indexes.push(index);
    this.#store.addIndex(index);
    this.#collecting?.addIndex(index);
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

  #noIndex(name: string): TypeError {
    const { kind } = this.#kind;
    const others = [...this.#indexNames.keys()].map((one) => JSON.stringify(one)).join(", ") || "none";
    return new TypeError(
      `${kind} has no index ${JSON.stringify(name)}; it has ${others}. Declare it: the controller's own kind in its option "indexes", others with indexed(${kind}, { … }) in "reads" or "owns", or in watch(…)`,
    );
  }

  #isHidden(stored: StoredObject): boolean {
    return this.#overlay.size > 0 && this.#overlay.hides(stored);
  }

  readonly #onIndexError: OnIndexError = (error, { name }, { metadata }): void => {
    const { kind } = this.#kind;
    const decision = this.#throttle.record(`index ${name} of ${kindIdOf(this.#kind)}`);
    if (decision.as === "suppressed") return;
    const place = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
    this.#log.error(
      { err: error, kind, index: name, object: place, ...countOf(decision) },
      `the index ${JSON.stringify(name)} of ${kind} threw for ${place}; objects that it throws for are left out of it`,
    );
  };
}
