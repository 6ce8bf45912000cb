import { controllerOf, groupOf, type OwnerReference } from "@windlass/kinds";
import type { JsonObject } from "../json.ts";
import { namespaceOf, valueAt } from "../json-fields.ts";
import { type LabelMatcher, selectorMatcher } from "../registry/label-selector.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import type { LogRecord, StoredObject } from "../storage/store.ts";
import type { Stored } from "../storage/typed.ts";
import { type Bucket, type BuiltinResource, edit, isDeleting, unlessGone } from "./objects.ts";

/** The objects of a bucket that this uid controls, in the order of their names. */
export function controlledBy<T>({ indexes }: Registry, { bucket }: Bucket<T>, uid: string): Stored<T>[] {
  return indexes.ownership.controlledBy(bucket, uid) as Stored<T>[];
}

/**
 * The objects of a bucket in a namespace, in no particular order. Cheaper than a list when most are
 * not wanted.
 */
export function within<T>(
  { indexes }: Registry,
  { bucket }: Bucket<T>,
  namespace: string,
): Iterable<Stored<T>> {
  return indexes.ownership.within(bucket, namespace) as Iterable<Stored<T>>;
}

/** Those of a bucket's objects that an owner's selector matches, in the order of their names. */
export function selected<T>(
  registry: Registry,
  resource: Bucket<T>,
  owner: StoredObject,
  matches: LabelMatcher = selectorOf(owner),
): Stored<T>[] {
  const found: Stored<T>[] = [];
  const selectable = registry.indexes.selectable(resource.bucket, owner) as Stored<T>[] | undefined;
  const among = selectable ?? within(registry, resource, namespaceOf(owner));
  for (const object of among) {
    if (matches(object.metadata.labels)) found.push(object);
  }
  return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/**
 * The keys of those in a bucket whose selector matches what a change concerns, before it or after.
 */
export function selectorKeys<T>(
  { indexes }: Registry,
  { bucket }: Bucket<T>,
  matcherOf: (owner: Stored<T>) => LabelMatcher = selectorOf,
): (record: LogRecord) => Iterable<string> {
  return ({ entry, previous }) => {
    const keys = new Set<string>();
    for (const one of previous ? [entry, previous] : [entry]) {
      for (const owner of indexes.selecting(bucket, one.object, (owner) => matcherOf(owner as Stored<T>)))
        keys.add(`${namespaceOf(owner)}/${owner.metadata.name}`);
    }
    return keys;
  };
}

/**
 * The key of the owner that controls the object, if it is of this kind; before and after the
 * change.
 */
export function controllerKey(group: string, kind: string): (record: LogRecord) => string[] {
  return (record) => {
    const keys = new Set<string>();
    for (const entry of [record.previous, record.entry]) {
      const owner = entry && controllerOf(entry.object);
      if (owner && owner.kind === kind && groupOf(owner.apiVersion) === group) {
        keys.add(`${namespaceOf(entry.object)}/${owner.name}`);
      }
    }
    return [...keys];
  };
}

/**
 * As `controllerKey`; for an object without a controller, the keys of those who select it and might
 * take it.
 */
export function claimantKeys(registry: Registry, owners: Resource): (record: LogRecord) => string[] {
  const { group, kind } = owners.info;
  const owned = controllerKey(group, kind);
  return (record) => {
    const { object } = record.entry;
    if (record.type === "DELETED" || controllerOf(object)) return owned(record);
    const namespace = namespaceOf(object);
    const keys = owned(record);
    for (const owner of registry.indexes.selecting(owners.bucket, object, selectorOf))
      keys.push(`${namespace}/${owner.metadata.name}`);
    return keys;
  };
}

const matchers = new WeakMap<StoredObject, LabelMatcher>();

/**
 * A workload's selector. A ReplicationController's is a plain map, and empty ones select nothing.
 */
export function selectorOf(owner: StoredObject): LabelMatcher {
  let matches = matchers.get(owner);
  if (!matches) {
    const selector = valueAt(owner, "spec", "selector");
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
export function controllerReference(owner: StoredObject): OwnerReference {
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
 * The objects that are a workload's own: those it controls and still selects. Takes those that it
 * selects and that have no controller, and releases those that it controls and no longer selects.
 */
export async function claim<T>(
  registry: Registry,
  owner: StoredObject,
  resource: BuiltinResource<T>,
  context: RequestContext,
  may: (object: Stored<T>) => boolean = () => true,
): Promise<Stored<T>[]> {
  const matches = selectorOf(owner);
  const { uid } = owner.metadata;
  const own: Stored<T>[] = [];
  for (const object of controlledBy(registry, resource, uid)) {
    if (matches(object.metadata.labels)) own.push(object);
    else if (!isDeleting(owner)) await release(registry, object, resource, uid, context);
  }
  if (isDeleting(owner)) return own;
  for (const found of registry.indexes.ownership.orphans(resource.bucket, namespaceOf(owner))) {
    const orphan = found as Stored<T>;
    if (isDeleting(orphan) || !may(orphan) || !matches(orphan.metadata.labels)) continue;
    own.push(await adopt(registry, orphan, resource, owner, context));
  }
  return own;
}

async function adopt<T>(
  registry: Registry,
  object: StoredObject,
  resource: BuiltinResource<T>,
  owner: StoredObject,
  context: RequestContext,
): Promise<Stored<T>> {
  return await edit(registry, resource, object, context, (next) => {
    const { metadata } = next as StoredObject;
    const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    metadata.ownerReferences = [...others, { ...controllerReference(owner) }];
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
      const { metadata } = next as StoredObject;
      const others = (metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
      if (others.length > 0) metadata.ownerReferences = others;
      else delete metadata.ownerReferences;
    }),
  );
}
