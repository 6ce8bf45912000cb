import type { OwnerReference } from "@windlass/kinds";
import { type JsonObject, stringify } from "../json.ts";
import { type TextToStamp, textToStampInSteps } from "../json-text.ts";
import type { Steps } from "../steps.ts";
import { History, sizeInSteps, sizeOf } from "./history.ts";
import { checkObjectSize } from "./storage-error.ts";

export { CompactedError } from "./history.ts";

/** An object as stored: never changed in place. A write replaces the entry by a new one. */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly object: StoredObject;
  /**
   * `object` as JSON without `kind` and `apiVersion`, made once and shared by every answer that
   * carries it.
   */
  readonly json: string;
}

/** What every stored object has, once the store has stamped it. */
export interface StoredObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: StoredMetadata;
}

/** An owner reference that can be changed. */
export type StoredOwnerReference = { -readonly [Field in keyof OwnerReference]: OwnerReference[Field] };

/**
 * Metadata is validated when it is written, so its types hold. Not an interface: users whose
 * compiler lets optional fields be undefined would find those at odds with the index signature.
 */
export type StoredMetadata = JsonObject & {
  name: string;
  uid: string;
  resourceVersion: string;
  namespace?: string;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
  ownerReferences?: StoredOwnerReference[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
};

/**
 * One committed write. `entry` is the state after it; for a delete, the last state with the
 * deletion's revision.
 */
export interface LogRecord {
  readonly revision: number;
  readonly bucket: string;
  readonly key: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly entry: Entry;
  /** The state before it; absent for a create. */
  readonly previous: Entry | undefined;
}

/** A page of a bucket, all of it from one revision. */
export interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  /** The last key of this page, if more follow. */
  readonly next: string | undefined;
  /** How many follow, if more do. */
  readonly remaining: number;
}

/** An object as it was kept. */
export interface KeptObject {
  readonly bucket: string;
  readonly key: string;
  readonly revision: number;
  readonly object: JsonObject;
}

/** What takes long to find out about a large object. */
export interface PreparedObject {
  /** What it takes in memory, by `sizeOf`. */
  readonly bytes: number;
  readonly text: TextToStamp;
}

/** As `put` wants it of a large object, with turns of the event loop in between. */
export function* prepareInSteps(object: JsonObject): Steps<PreparedObject> {
  const bytes = yield* sizeInSteps(object);
  return { bytes, text: yield* textToStampInSteps(object) };
}

/** Where a store's writes are kept. */
export interface Journal {
  /** What was kept before: the store begins with it. */
  load(): { readonly revision: number; readonly objects: Iterable<KeptObject> };
  /**
   * Keeps a write, before anybody sees it.
   *
   * @throws if it cannot: then the write does not happen.
   */
  append(record: LogRecord): void;
}

export interface StoreOptions {
  /** How many past writes stay readable. Older ones are compacted away. @default 20000 */
  readonly historyLimit?: number;
  /** How much memory their objects may take, in bytes. @default 64 MiB */
  readonly historyBytes?: number;
  /** Keeps every write. @default nothing is kept */
  readonly journal?: Journal;
}

interface Bucket {
  readonly entries: Map<string, Entry>;
  /**
   * The keys in order except for those in `moved`; undefined until they are requested, and after
   * many have moved.
   */
  sorted: string[] | undefined;
  /** Keys that came or went since `sorted` was right. */
  readonly moved: Set<string>;
  readonly listeners: Set<(record: LogRecord) => void>;
}

/**
 * All state of the control plane: buckets of objects under one monotonic revision, with the recent
 * past kept so that a list can be continued and a watch resumed. One write is one synchronous step;
 * Node's single thread makes it serialisable.
 *
 * Keys are `namespace/name`, or `name` for cluster-scoped kinds, and lists come in key order.
 */
export class Store {
  #revision = 1;
  readonly #buckets = new Map<string, Bucket>();
  readonly #listeners = new Set<(record: LogRecord) => void>();
  readonly #history: History<LogRecord>;
  readonly #journal: Journal | undefined;

  constructor(options: StoreOptions = {}) {
    this.#history = new History<LogRecord>({
      records: options.historyLimit ?? 20_000,
      bytes: options.historyBytes ?? 64 * 1024 * 1024,
    });
    this.#journal = options.journal;
    if (options.journal) this.#restore(options.journal);
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** History up to and including this revision was compacted. */
  get compactedRevision(): number {
    return this.#history.compacted;
  }

  get(bucket: string, key: string): Entry | undefined {
    return this.#buckets.get(bucket)?.entries.get(key);
  }

  /** The names of all buckets that were ever written to. */
  buckets(): string[] {
    return [...this.#buckets.keys()];
  }

  /**
   * Every entry of a bucket, in no particular order: for those who look for one, and for counting.
   */
  entries(bucket: string): Iterable<Entry> {
    return this.#buckets.get(bucket)?.entries.values() ?? [];
  }

  count(bucket: string): number {
    return this.#buckets.get(bucket)?.entries.size ?? 0;
  }

  /**
   * Stores a new object, or replaces one. The caller has checked that it may.
   *
   * @param prepared what was found out about a large object before
   * @throws ObjectTooLargeError, or what the journal throws if it cannot keep the write: then
   *   nothing has changed, and no watcher has seen it.
   */
  put(bucketName: string, key: string, object: JsonObject, prepared?: PreparedObject): Entry {
    const bytes = prepared?.bytes ?? sizeOf(object);
    const bucket = this.#bucket(bucketName);
    const previous = bucket.entries.get(key);
    const entry = this.#stamp(key, object, prepared?.text);
    // Text in JSON may be six times as long as it is.
    if (bytes > worthMeasuring) checkObjectSize(Buffer.byteLength(entry.json));
    const type = previous ? "MODIFIED" : "ADDED";
    this.#commit(bucket, { revision: entry.revision, bucket: bucketName, key, type, entry, previous }, bytes);
    return entry;
  }

  /**
   * Removes an object. `last` is its final state where that differs from what is stored (finalizers
   * gone, say).
   *
   * @returns the final state, with the deletion's revision; undefined if there was nothing.
   * @throws as {@link put}
   */
  delete(bucketName: string, key: string, last?: JsonObject): Entry | undefined {
    const bucket = this.#bucket(bucketName);
    const previous = bucket.entries.get(key);
    if (!previous) return undefined;
    const entry = this.#stamp(key, last ?? previous.object);
    const { revision } = entry;
    const record = { revision, bucket: bucketName, key, type: "DELETED", entry, previous } as const;
    this.#commit(bucket, record, sizeOf(entry.object));
    return entry;
  }

  /**
   * Up to `limit` entries in key order, after `after`, as they were at `at`. `prefix` narrows to a
   * namespace.
   *
   * @throws CompactedError if `at` lies before the history.
   */
  list(
    bucketName: string,
    options: {
      prefix?: string;
      at?: number;
      after?: string;
      limit?: number;
      matches?: (entry: Entry) => boolean;
    } = {},
  ): Page {
    const { prefix = "", at = this.#revision, after, limit = Number.POSITIVE_INFINITY, matches } = options;
    const bucket = this.#buckets.get(bucketName);
    this.#history.check(at);
    if (!bucket) return { entries: [], revision: at, next: undefined, remaining: 0 };
    const view = viewAt(bucket, this.#history.of(bucketName), at);
    const keys = view.keys;
    const entries: Entry[] = [];
    let index = after === undefined ? firstAtLeast(keys, prefix) : firstAtLeast(keys, after);
    if (after !== undefined && keys[index] === after) index++;
    for (; index < keys.length; index++) {
      const key = keys[index] as string;
      if (prefix !== "" && !key.startsWith(prefix)) break;
      const entry = view.entries.get(key) as Entry;
      // A full page ends before the next key, whether that matches or not: what follows is not
      // looked at.
      if (entries.length === limit) {
        return {
          entries,
          revision: at,
          next: (entries[entries.length - 1] as Entry).key,
          remaining: countFrom(keys, index, prefix),
        };
      }
      if (!matches || matches(entry)) entries.push(entry);
    }
    return { entries, revision: at, next: undefined, remaining: 0 };
  }

  /**
   * The bucket's writes after `revision`, oldest first.
   *
   * @throws CompactedError if some of them are no longer known.
   */
  since(bucketName: string, revision: number): readonly LogRecord[] {
    this.#history.check(revision);
    const log = this.#history.of(bucketName);
    let low = 0;
    let high = log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((log[middle] as LogRecord).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return log.slice(low);
  }

  /** Calls `listener` within each later commit to the bucket. It must not write, nor throw. */
  subscribe(bucketName: string, listener: (record: LogRecord) => void): () => void {
    const { listeners } = this.#bucket(bucketName);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** As `subscribe`, for every bucket. */
  subscribeAll(listener: (record: LogRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets history up to `revision`: requests for it afterwards get 410. */
  compact(revision: number = this.#revision): void {
    this.#history.compact(Math.min(revision, this.#revision));
  }

  #restore(journal: Journal): void {
    const { revision, objects } = journal.load();
    for (const { bucket: name, key, revision: version, object } of objects) {
      this.#bucket(name).entries.set(key, newEntry(key, version, object as StoredObject));
    }
    this.#revision = revision;
    this.#history.compact(revision);
  }

  #bucket(name: string): Bucket {
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      bucket = { entries: new Map(), sorted: undefined, moved: new Set(), listeners: new Set() };
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }

  /** The object as the next write would store it. */
  #stamp(key: string, object: JsonObject, text?: TextToStamp): Entry {
    const revision = this.#revision + 1;
    const json = text && `${text.before}"${revision}"${text.after}`;
    const metadata = { ...(object.metadata as JsonObject), resourceVersion: String(revision) };
    return newEntry(key, revision, { ...object, metadata } as unknown as StoredObject, json);
  }

  #commit(bucket: Bucket, record: LogRecord, bytes: number): void {
    this.#journal?.append(record);
    const { key, revision, type, entry, previous } = record;
    this.#revision = revision;
    if (type === "DELETED") bucket.entries.delete(key);
    else bucket.entries.set(key, entry);
    if (type === "DELETED" || !previous) move(bucket, key);
    this.#history.add(record, bytes);
    for (const listener of bucket.listeners) listener(record);
    for (const listener of this.#listeners) listener(record);
  }
}

function newEntry(key: string, revision: number, object: StoredObject, text?: string): Entry {
  let json = text;
  return {
    key,
    revision,
    object,
    get json() {
      if (json === undefined) {
        const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
        json = stringify(rest);
      }
      return json;
    },
  };
}

/**
 * The bucket as it was at a revision: today's entries with the later writes taken back, newest
 * first.
 */
function viewAt(
  bucket: Bucket,
  log: readonly LogRecord[],
  at: number,
): { keys: readonly string[]; entries: ReadonlyMap<string, Entry> } {
  const last = log.at(-1);
  if (!last || last.revision <= at) {
    return { keys: keysOf(bucket), entries: bucket.entries };
  }
  const entries = new Map(bucket.entries);
  for (let i = log.length - 1; i >= 0; i--) {
    const record = log[i] as LogRecord;
    if (record.revision <= at) break;
    if (record.previous) entries.set(record.key, record.previous);
    else entries.delete(record.key);
  }
  return { keys: [...entries.keys()].sort(byCodeUnits), entries };
}

/** Objects that may be too large are measured exactly. */
const worthMeasuring = 256 * 1024;

/** Putting this many keys in their places one by one costs less than sorting all of them. */
const mostMoved = 64;

function move(bucket: Bucket, key: string): void {
  if (!bucket.sorted) return;
  bucket.moved.add(key);
  if (bucket.moved.size <= mostMoved) return;
  bucket.sorted = undefined;
  bucket.moved.clear();
}

/**
 * The bucket's keys in order. A list after each write is common, and must not sort everything each
 * time.
 */
function keysOf(bucket: Bucket): readonly string[] {
  bucket.sorted ??= [...bucket.entries.keys()].sort(byCodeUnits);
  const { sorted, moved, entries } = bucket;
  for (const key of moved) {
    const index = firstAtLeast(sorted, key);
    const isThere = sorted[index] === key;
    if (entries.has(key) && !isThere) sorted.splice(index, 0, key);
    else if (!entries.has(key) && isThere) sorted.splice(index, 1);
  }
  moved.clear();
  return sorted;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function firstAtLeast(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countFrom(keys: readonly string[], from: number, prefix: string): number {
  if (prefix === "") return keys.length - from;
  let count = 0;
  for (let i = from; i < keys.length && (keys[i] as string).startsWith(prefix); i++) count++;
  return count;
}

/** `namespace/name`, or the name alone. */
export function storageKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}
