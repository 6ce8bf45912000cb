import { controllerOf } from "@windlass/kinds";
import { namespaceOf } from "../json-fields.ts";
import type { LogRecord, Store, StoredObject } from "./store.ts";

/** Objects by key. The sorted keys are kept until an object comes or goes. */
interface ObjectGroup {
  readonly objects: Map<string, StoredObject>;
  keys: string[] | undefined;
}

/**
 * Finds objects by the owner that controls them and by namespace. Kept up to date from the store's
 * log.
 */
export class OwnershipIndex {
  readonly #byController = new Map<string, ObjectGroup>();
  readonly #byNamespace = new Map<string, ObjectGroup>();
  /** Those without a controller, by namespace. */
  readonly #orphans = new Map<string, ObjectGroup>();

  constructor(store: Store) {
    for (const bucket of store.buckets()) {
      for (const { key, object } of store.entries(bucket)) this.#add(bucket, key, object);
    }
    store.subscribeAll((record) => this.#follow(record));
  }

  controlledBy(bucket: string, uid: string): StoredObject[] {
    return inKeyOrder(this.#byController.get(`${bucket} ${uid}`));
  }

  orphans(bucket: string, namespace: string): StoredObject[] {
    return inKeyOrder(this.#orphans.get(`${bucket} ${namespace}`));
  }

  within(bucket: string, namespace: string): Iterable<StoredObject> {
    return this.#byNamespace.get(`${bucket} ${namespace}`)?.objects.values() ?? [];
  }

  #follow({ bucket, key, type, entry, previous }: LogRecord): void {
    const place = `${bucket} ${namespaceOf(entry.object)}`;
    const before = previous && controllerOf(previous.object)?.uid;
    const after = type === "DELETED" ? undefined : controllerOf(entry.object)?.uid;
    if (before !== undefined && before !== after) remove(this.#byController, `${bucket} ${before}`, key);
    if (type === "DELETED" || after !== undefined) remove(this.#orphans, place, key);
    if (type === "DELETED") remove(this.#byNamespace, place, key);
    else this.#add(bucket, key, entry.object);
  }

  #add(bucket: string, key: string, object: StoredObject): void {
    const uid = controllerOf(object)?.uid;
    const place = `${bucket} ${namespaceOf(object)}`;
    if (uid === undefined) insert(this.#orphans, place, key, object);
    else insert(this.#byController, `${bucket} ${uid}`, key, object);
    insert(this.#byNamespace, place, key, object);
  }
}

function insert(index: Map<string, ObjectGroup>, name: string, key: string, object: StoredObject): void {
  const group = index.get(name);
  if (!group) {
    index.set(name, { objects: new Map([[key, object]]), keys: undefined });
    return;
  }
  if (!group.objects.has(key)) group.keys = undefined;
  group.objects.set(key, object);
}

function remove(index: Map<string, ObjectGroup>, name: string, key: string): void {
  const group = index.get(name);
  if (!group?.objects.delete(key)) return;
  group.keys = undefined;
  if (group.objects.size === 0) index.delete(name);
}

function inKeyOrder(group: ObjectGroup | undefined): StoredObject[] {
  if (!group) return [];
  group.keys ??= [...group.objects.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return group.keys.map((key) => group.objects.get(key) as StoredObject);
}
