import { Entry } from "./entry.ts";

/** A key that is an object: addressed like what it stands for. */
export interface NamespacedKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * The entries of all keys that are not idle. Looked up by namespace and then by name: to make one
 * string of both, and its hash, for each lookup would cost more than everything else that an add
 * does.
 */
export class Entries<K extends string | NamespacedKey> {
  readonly #strings = new Map<string, Entry<K>>();
  readonly #namespaces = new Map<string, Map<string, Entry<K>>>();
  /** An empty map, for the next namespace. */
  #spareMap: Map<string, Entry<K>> | undefined;
  /** An entry of nothing, for the next key: most often one key ends where another begins. */
  #spareEntry: Entry<K> | undefined;

  get(key: K): Entry<K> | undefined {
    if (typeof key === "string") return this.#strings.get(key);
    return this.#namespaces.get(key.namespace ?? "")?.get(key.name);
  }

  /** An entry for a key that has none. */
  make(key: K, priority: number, dueSince: number): Entry<K> {
    const entry = this.#entryFor(key, priority, dueSince);
    if (typeof key === "string") this.#strings.set(key, entry);
    else this.#namesIn(entry.namespace).set(key.name, entry);
    return entry;
  }

  /** Takes an entry away that is in no order any more. */
  delete(entry: Entry<K>): void {
    const { key, namespace } = entry;
    if (typeof key === "string") this.#strings.delete(key);
    else if (key) this.#deleteName(namespace, key.name);
    entry.clear();
    this.#spareEntry = entry;
  }

  *[Symbol.iterator](): Generator<Entry<K>> {
    yield* this.#strings.values();
    for (const names of this.#namespaces.values()) yield* names.values();
  }

  #entryFor(key: K, priority: number, dueSince: number): Entry<K> {
    const spare = this.#spareEntry;
    if (!spare) return new Entry(key, namespaceOf(key), priority, dueSince);
    this.#spareEntry = undefined;
    spare.key = key;
    spare.namespace = namespaceOf(key);
    spare.priority = priority;
    spare.dueSince = dueSince;
    return spare;
  }

  #namesIn(namespace: string): Map<string, Entry<K>> {
    const known = this.#namespaces.get(namespace);
    if (known) return known;
    const names = this.#spareMap ?? new Map<string, Entry<K>>();
    this.#spareMap = undefined;
    this.#namespaces.set(namespace, names);
    return names;
  }

  #deleteName(namespace: string, name: string): void {
    const names = this.#namespaces.get(namespace);
    names?.delete(name);
    if (names?.size !== 0) return;
    this.#namespaces.delete(namespace);
    this.#spareMap = names;
  }
}

/** Between what the queue is fair: the namespace, or what a string has before its first "/". */
export function namespaceOf(key: string | NamespacedKey): string {
  if (typeof key !== "string") return key.namespace ?? "";
  const slash = key.indexOf("/");
  return slash < 0 ? "" : key.slice(0, slash);
}
