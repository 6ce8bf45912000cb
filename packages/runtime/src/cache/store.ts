import type { KubernetesObject } from "@windlass/client";
import type { ObjectReader } from "./object-reader.ts";
import type { StoredObject } from "./stored-object.ts";

/** Gives the values under which an object is found. */
export type IndexFunction = (object: KubernetesObject) => readonly string[];

/** An index that a user defines. */
export interface Index {
  readonly name: string;
  readonly values: IndexFunction;
}

/** Told of an index function that threw, and of the object that it was called with. */
export type OnIndexError = (error: unknown, index: Index, object: KubernetesObject) => void;

type Entries = Map<string, StoredObject | Set<StoredObject>>;

/** Objects of one kind by namespace and name, by owner, and by the indexes that users define. */
export class Store {
  readonly #reader: ObjectReader;
  readonly #spaces = new Map<string, Map<string, StoredObject>>();
  readonly #byOwner: Entries = new Map();
  readonly #indexes: Index[];
  readonly #entries: Entries[];
  readonly #onIndexError: OnIndexError;
  #size = 0;
  #bytes = 0;

  /**
   * Index functions that throw leave the object out of their index, and `onIndexError` is called.
   */
  constructor(reader: ObjectReader, indexes: readonly Index[], onIndexError: OnIndexError) {
    this.#reader = reader;
    this.#indexes = [...indexes];
    this.#entries = indexes.map(() => new Map());
    this.#onIndexError = onIndexError;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of JSON held. */
  get bytes(): number {
    return this.#bytes;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#spaces.get(namespace)?.get(name);
  }

  /** Adds an index after those that are there, and the objects that are here to it. */
  addIndex(index: Index): void {
    const entries: Entries = new Map();
    this.#indexes.push(index);
    this.#entries.push(entries);
    for (const stored of this.values()) {
      const found = indexValues(index, this.#reader.read(stored), this.#onIndexError);
      stored.indexed = [...stored.indexed.slice(0, this.#indexes.length - 1), found];
      for (const value of found) link(entries, value, stored);
    }
  }

  /** Puts an object in the place of what was there under its name. */
  set(stored: StoredObject): void {
    let space = this.#spaces.get(stored.namespace);
    if (!space) {
      space = new Map();
      this.#spaces.set(stored.namespace, space);
    }
    const before = space.get(stored.name);
    if (before) this.#forget(before);
    space.set(stored.name, stored);
    this.#size += 1;
    this.#bytes += stored.length;
    for (const owner of stored.owners) link(this.#byOwner, owner, stored);
    // An object that another store of the same indexes holds already has its values.
    if (stored.indexed.length !== this.#indexes.length) stored.indexed = this.#values(stored);
    for (const [position, values] of stored.indexed.entries()) {
      const entries = this.#entries[position];
      if (entries) for (const value of values) link(entries, value, stored);
    }
  }

  delete(stored: StoredObject): void {
    const space = this.#spaces.get(stored.namespace);
    if (space?.get(stored.name) !== stored) return;
    space.delete(stored.name);
    if (space.size === 0) this.#spaces.delete(stored.namespace);
    this.#forget(stored);
  }

  /** All objects, or those of one namespace. */
  *values(namespace?: string): Generator<StoredObject> {
    if (namespace !== undefined) {
      const space = this.#spaces.get(namespace);
      if (space) yield* space.values();
      return;
    }
    for (const space of this.#spaces.values()) yield* space.values();
  }

  ownedBy(uid: string): Iterable<StoredObject> {
    return linked(this.#byOwner, uid);
  }

  /** @param position the index' place in the list the store was made with. */
  byIndex(position: number, value: string): Iterable<StoredObject> {
    const entries = this.#entries[position];
    return entries ? linked(entries, value) : [];
  }

  #values(stored: StoredObject): readonly (readonly string[])[] {
    const object = this.#reader.read(stored);
    return this.#indexes.map((index) => indexValues(index, object, this.#onIndexError));
  }

  #forget(stored: StoredObject): void {
    this.#size -= 1;
    this.#bytes -= stored.length;
    for (const owner of stored.owners) unlink(this.#byOwner, owner, stored);
    for (const [position, values] of stored.indexed.entries()) {
      const entries = this.#entries[position];
      if (entries) for (const value of values) unlink(entries, value, stored);
    }
  }
}

/** What an index function gives for an object, each value once; nothing if it throws. */
export function indexValues(
  index: Index,
  object: KubernetesObject,
  onIndexError: OnIndexError,
): readonly string[] {
  try {
    const given = index.values(object);
    return given.length < 2 ? given : [...new Set(given)];
  } catch (error) {
    onIndexError(error, index, object);
    return [];
  }
}

/** Most values have one object, so a set is made only for the second. */
function link(entries: Entries, value: string, stored: StoredObject): void {
  const there = entries.get(value);
  if (there === undefined || there === stored) entries.set(value, stored);
  else if (there instanceof Set) there.add(stored);
  else entries.set(value, new Set([there, stored]));
}

function unlink(entries: Entries, value: string, stored: StoredObject): void {
  const there = entries.get(value);
  if (there === stored) entries.delete(value);
  else if (there instanceof Set) {
    there.delete(stored);
    if (there.size === 0) entries.delete(value);
  }
}

function linked(entries: Entries, value: string): Iterable<StoredObject> {
  const there = entries.get(value);
  if (there === undefined) return [];
  return there instanceof Set ? there : [there];
}
