import { type JsonObject, textOf } from "../json.ts";
import { type LabelMatcher, selectorMatcher } from "../registry/label-selector.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { field, type LogRecord, type Store, type StoredObject } from "../storage/store.ts";
import { selectable, selecting } from "./label-index.ts";
import { edit, isDeleting, listAt, namespaceOf, unlessGone } from "./objects.ts";

/** Objects by key, and the keys in order for as long as none comes or goes. */
interface Shelf {
  readonly objects: Map<string, StoredObject>;
  keys: string[] | undefined;
}

/**
 * Who controls what, and what is where: kept up to date from the store's log, so that nobody has to search for it.
 * Shared by all controllers of a store.
 */
class Ownership {
  readonly #byController = new Map<string, Shelf>();
  readonly #byNamespace = new Map<string, Shelf>();
  /** Those that nobody controls, by namespace. */
  readonly #orphans = new Map<string, Shelf>();

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
    if (before !== undefined && before !== after)
      remove(this.#byController, `${bucket} ${textOf(before)}`, key);
    if (type === "DELETED" || after !== undefined) remove(this.#orphans, place, key);
    if (type === "DELETED") remove(this.#byNamespace, place, key);
    else this.#add(bucket, key, entry.object);
  }

  #add(bucket: string, key: string, object: StoredObject): void {
    const uid = controllerOf(object)?.uid;
    const place = `${bucket} ${namespaceOf(object)}`;
    if (uid === undefined) insert(this.#orphans, place, key, object);
    else insert(this.#byController, `${bucket} ${textOf(uid)}`, key, object);
    insert(this.#byNamespace, place, key, object);
  }
}

function insert(index: Map<string, Shelf>, name: string, key: string, object: StoredObject): void {
  const shelf = index.get(name);
  if (!shelf) {
    index.set(name, { objects: new Map([[key, object]]), keys: undefined });
    return;
  }
  if (!shelf.objects.has(key)) shelf.keys = undefined;
  shelf.objects.set(key, object);
}

function remove(index: Map<string, Shelf>, name: string, key: string): void {
  const shelf = index.get(name);
  if (!shelf?.objects.delete(key)) return;
  shelf.keys = undefined;
  if (shelf.objects.size === 0) index.delete(name);
}

function inKeyOrder(shelf: Shelf | undefined): StoredObject[] {
  if (!shelf) return [];
  shelf.keys ??= [...shelf.objects.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return shelf.keys.map((key) => shelf.objects.get(key) as StoredObject);
}

const known = new WeakMap<Store, Ownership>();

function ownershipIn(store: Store): Ownership {
  let ownership = known.get(store);
  if (!ownership) {
    ownership = new Ownership(store);
    known.set(store, ownership);
  }
  return ownership;
}

/** The owner reference with `controller: true`. */
export function controllerOf(object: JsonObject): JsonObject | undefined {
  return listAt(object, "metadata", "ownerReferences").find(({ controller }) => controller === true);
}

/** The objects of a bucket that this uid controls, in the order of their names. */
export function controlledBy({ store }: Registry, bucket: string, uid: string): StoredObject[] {
  return ownershipIn(store).controlledBy(bucket, uid);
}

/** The objects of a bucket in a namespace, in no particular order. Cheaper than a list when most are not wanted. */
export function within({ store }: Registry, bucket: string, namespace: string): Iterable<StoredObject> {
  return ownershipIn(store).within(bucket, namespace);
}

/** Those of a bucket's objects that an owner's selector matches, in the order of their names. */
export function selected(
  registry: Registry,
  bucket: string,
  owner: StoredObject,
  matches: LabelMatcher = selectorOf(owner),
): StoredObject[] {
  const found: StoredObject[] = [];
  const among = selectable(registry.store, bucket, owner) ?? within(registry, bucket, namespaceOf(owner));
  for (const object of among) {
    if (matches(object.metadata.labels as JsonObject | undefined)) found.push(object);
  }
  return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** The keys of those in a bucket whose selector matches what a change concerns, before it or after. */
export function selectorKeys(
  { store }: Registry,
  bucket: string,
  matcherOf: (owner: StoredObject) => LabelMatcher = selectorOf,
): (record: LogRecord) => Iterable<string> {
  return ({ entry, previous }) => {
    const keys = new Set<string>();
    for (const one of previous ? [entry, previous] : [entry]) {
      for (const owner of selecting(store, bucket, one.object, matcherOf))
        keys.add(`${namespaceOf(owner)}/${owner.metadata.name}`);
    }
    return keys;
  };
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
}

/** The key of the owner that controls the object, if it is of this kind; before and after the change. */
export function controllerKey(group: string, kind: string): (record: LogRecord) => string[] {
  return (record) => {
    const keys = new Set<string>();
    for (const entry of [record.previous, record.entry]) {
      const owner = entry && controllerOf(entry.object);
      if (owner && textOf(owner.kind) === kind && groupOf(textOf(owner.apiVersion)) === group) {
        keys.add(`${namespaceOf(entry.object)}/${textOf(owner.name)}`);
      }
    }
    return [...keys];
  };
}

/** As `controllerKey`; for an object that nobody controls, the keys of those who select it and might take it. */
export function claimantKeys(registry: Registry, owners: Resource): (record: LogRecord) => string[] {
  const { group, kind } = owners.info;
  const owned = controllerKey(group, kind);
  return (record) => {
    const { object } = record.entry;
    if (record.type === "DELETED" || controllerOf(object)) return owned(record);
    const namespace = namespaceOf(object);
    const keys = owned(record);
    for (const owner of selecting(registry.store, owners.bucket, object, selectorOf))
      keys.push(`${namespace}/${owner.metadata.name}`);
    return keys;
  };
}

const matchers = new WeakMap<StoredObject, LabelMatcher>();

/** A workload's selector. A ReplicationController's is a plain map, and empty ones select nothing. */
export function selectorOf(owner: StoredObject): LabelMatcher {
  let matches = matchers.get(owner);
  if (!matches) {
    const selector = field(owner, "spec", "selector");
    const plain = owner.kind === "ReplicationController" || owner.kind === "Service";
    const text = plain ? { matchLabels: selector ?? {} } : selector;
    matches =
      selector === undefined || Object.keys(selector as JsonObject).length === 0
        ? () => false
        : selectorMatcher(text);
    matchers.set(owner, matches);
  }
  return matches;
}

/** A reference that makes `owner` the controller of what carries it. */
export function controllerReference(owner: StoredObject): JsonObject {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * The objects that are a workload's own: those it controls and still selects. Takes those that it selects and nobody controls,
 * and lets go of those that it controls and no longer selects.
 */
export async function claim(
  registry: Registry,
  owner: StoredObject,
  resource: Resource,
  context: RequestContext,
  may: (object: StoredObject) => boolean = () => true,
): Promise<StoredObject[]> {
  const matches = selectorOf(owner);
  const { uid } = owner.metadata;
  const own: StoredObject[] = [];
  for (const object of controlledBy(registry, resource.bucket, uid)) {
    if (matches(object.metadata.labels as JsonObject | undefined)) own.push(object);
    else if (!isDeleting(owner)) await release(registry, object, resource, uid, context);
  }
  if (isDeleting(owner)) return own;
  for (const orphan of ownershipIn(registry.store).orphans(resource.bucket, namespaceOf(owner))) {
    if (isDeleting(orphan) || !may(orphan) || !matches(orphan.metadata.labels as JsonObject | undefined))
      continue;
    own.push(await adopt(registry, orphan, resource, owner, context));
  }
  return own;
}

async function adopt(
  registry: Registry,
  object: StoredObject,
  resource: Resource,
  owner: StoredObject,
  context: RequestContext,
): Promise<StoredObject> {
  return await edit(registry, resource, object, context, (next) => {
    const metadata = next.metadata as JsonObject;
    const others = listAt(metadata, "ownerReferences").filter(({ uid }) => uid !== owner.metadata.uid);
    metadata.ownerReferences = [...others, controllerReference(owner)];
  });
}

async function release(
  registry: Registry,
  object: StoredObject,
  resource: Resource,
  uid: string,
  context: RequestContext,
): Promise<void> {
  await unlessGone(
    edit(registry, resource, object, context, (next) => {
      const metadata = next.metadata as JsonObject;
      const others = listAt(metadata, "ownerReferences").filter((reference) => reference.uid !== uid);
      if (others.length > 0) metadata.ownerReferences = others;
      else delete metadata.ownerReferences;
    }),
  );
}
