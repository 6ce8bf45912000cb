import { append } from "../append.ts";
import { isObject, type Json, textOf } from "../json.ts";
import { namespaceOf, objectAt, valueAt } from "../json-fields.ts";
import type { LogRecord, Store, StoredObject } from "./store.ts";

type Labels = { readonly [key: string]: Json };

/** Keys by a text that they are found under. */
type Keys = Map<string, Set<string>>;

function insert(keys: Keys, text: string, key: string): void {
  const there = keys.get(text);
  if (there) there.add(key);
  else keys.set(text, new Set([key]));
}

function remove(keys: Keys, text: string, key: string): void {
  const there = keys.get(text);
  if (there?.delete(key) && there.size === 0) keys.delete(text);
}

/** One label in one namespace. Neither namespaces nor label keys have the characters in between. */
function pairsOf(namespace: string, labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${namespace} ${key}=${textOf(value)}`);
}

/** The objects of a bucket by each label they carry, so that a selector looks at few of them. */
export class LabelIndex {
  readonly #store: Store;
  readonly #bucket: string;
  readonly #byPair: Keys = new Map();

  constructor(store: Store, bucket: string) {
    this.#store = store;
    this.#bucket = bucket;
    for (const { key, object } of store.entries(bucket)) this.#add(key, object);
    store.subscribe(bucket, ({ key, type, entry, previous }) => {
      if (previous) for (const pair of pairsIn(previous.object)) remove(this.#byPair, pair, key);
      if (type !== "DELETED") this.#add(key, entry.object);
    });
  }

  /**
   * Those of a namespace that carry all of these labels, or more; undefined where no label is asked
   * for.
   */
  candidates(namespace: string, labels: Labels): Iterable<StoredObject> | undefined {
    let fewest: ReadonlySet<string> | undefined;
    for (const pair of pairsOf(namespace, labels)) {
      const keys = this.#byPair.get(pair);
      if (!keys) return [];
      if (!fewest || keys.size < fewest.size) fewest = keys;
    }
    return (
      fewest && Array.from(fewest, (key) => this.#store.get(this.#bucket, key)?.object).filter(isPresent)
    );
  }

  #add(key: string, object: StoredObject): void {
    for (const pair of pairsIn(object)) insert(this.#byPair, pair, key);
  }
}

function pairsIn(object: StoredObject): string[] {
  return pairsOf(namespaceOf(object), objectAt(object, "metadata", "labels"));
}

function isPresent(object: StoredObject | undefined): object is StoredObject {
  return object !== undefined;
}

/**
 * The objects of a bucket by a label that their selector asks for, so that a labelled object finds
 * those who select it. Each is kept under one label only: the one with the fewest others, as a
 * label that all share distinguishes nothing.
 */
export class SelectorIndex {
  readonly #store: Store;
  readonly #bucket: string;
  readonly #byPair: Keys = new Map();
  /** Those whose selector asks for no particular label, by namespace. */
  readonly #vague: Keys = new Map();
  readonly #pairs = new Map<string, string>();

  constructor(store: Store, bucket: string) {
    this.#store = store;
    this.#bucket = bucket;
    for (const { key, object } of store.entries(bucket)) this.#add(key, object);
    store.subscribe(bucket, (record) => this.#follow(record));
  }

  /** Those of a namespace that may select what carries these labels. */
  candidates(namespace: string, labels: Labels): StoredObject[] {
    const found = [...(this.#vague.get(namespace) ?? [])];
    for (const pair of pairsOf(namespace, labels)) append(found, this.#byPair.get(pair) ?? []);
    return found.map((key) => this.#store.get(this.#bucket, key)?.object).filter(isPresent);
  }

  #follow({ key, type, entry }: LogRecord): void {
    const { object } = entry;
    const pair = this.#pairs.get(key);
    const stays = type !== "DELETED" && pair !== undefined && asksFor(object).includes(pair);
    if (stays) return;
    if (pair !== undefined) remove(this.#byPair, pair, key);
    this.#pairs.delete(key);
    remove(this.#vague, namespaceOf(object), key);
    if (type !== "DELETED") this.#add(key, object);
  }

  #add(key: string, object: StoredObject): void {
    const others = (pair: string) => this.#byPair.get(pair)?.size ?? 0;
    const [rarest] = asksFor(object).sort((a, b) => others(a) - others(b));
    if (rarest === undefined) {
      insert(this.#vague, namespaceOf(object), key);
      return;
    }
    insert(this.#byPair, rarest, key);
    this.#pairs.set(key, rarest);
  }
}

function asksFor(owner: StoredObject): string[] {
  return pairsOf(namespaceOf(owner), requiredLabels(owner));
}

/**
 * The labels that an object must carry for the owner's selector to match it. There may be more to
 * the selector.
 */
export function requiredLabels(owner: StoredObject): Labels {
  const selector = valueAt(owner, "spec", "selector");
  if (!isObject(selector)) return {};
  const plain = owner.kind === "ReplicationController" || owner.kind === "Service";
  return plain ? selector : objectAt(selector, "matchLabels");
}
