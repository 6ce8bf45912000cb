import { namespaceOf, objectAt } from "../json-fields.ts";
import type { LabelMatcher } from "../registry/label-selector.ts";
import { LabelIndex, requiredLabels, SelectorIndex } from "./label-index.ts";
import { OwnershipIndex } from "./ownership-index.ts";
import type { Store, StoredObject } from "./store.ts";

/**
 * Finds objects without a search through the whole store. Each index is built when it is first
 * asked.
 */
export class ObjectIndexes {
  readonly #store: Store;
  #ownership: OwnershipIndex | undefined;
  readonly #byLabel = new Map<string, LabelIndex>();
  readonly #bySelector = new Map<string, SelectorIndex>();

  constructor(store: Store) {
    this.#store = store;
  }

  get ownership(): OwnershipIndex {
    this.#ownership ??= new OwnershipIndex(this.#store);
    return this.#ownership;
  }

  /**
   * The few objects of a bucket that an owner's selector may match; undefined where it could be any
   * of its namespace.
   */
  selectable(bucket: string, owner: StoredObject): Iterable<StoredObject> | undefined {
    let index = this.#byLabel.get(bucket);
    if (!index) {
      index = new LabelIndex(this.#store, bucket);
      this.#byLabel.set(bucket, index);
    }
    return index.candidates(namespaceOf(owner), requiredLabels(owner));
  }

  /** The objects of a bucket whose selector, as `matcherOf` reads it, matches an object. */
  selecting(
    bucket: string,
    object: StoredObject,
    matcherOf: (owner: StoredObject) => LabelMatcher,
  ): StoredObject[] {
    let index = this.#bySelector.get(bucket);
    if (!index) {
      index = new SelectorIndex(this.#store, bucket);
      this.#bySelector.set(bucket, index);
    }
    const labels = objectAt(object, "metadata", "labels");
    return index.candidates(namespaceOf(object), labels).filter((owner) => matcherOf(owner)(labels));
  }
}
