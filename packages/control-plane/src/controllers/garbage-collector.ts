import { groupOf } from "@windlass/kinds";
import { append } from "../append.ts";
import { foregroundFinalizer, orphanFinalizer } from "../registry/deletion.ts";
import type { Entry, LogRecord, StoredObject, StoredOwnerReference } from "../storage/store.ts";
import { eventRecorder } from "./events.ts";
import { type Again, type ControllerDependencies, type Running, startLoop, unhurried } from "./loop.ts";
import { controllerContext, edit, isDeleting, kindNamed, setFinalizer, unlessGone } from "./objects.ts";

interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

/** The state of the owner that a reference names. */
type OwnerState =
  /** The owner lives: the dependent stays. */
  | "solid"
  /** The owner is being deleted, and waits for its dependents. */
  | "waiting"
  /** There is no such owner. */
  | "absent"
  /** Unknown kind: nothing is done. */
  | "unresolvable";

/**
 * Deletes what has lost its last owner, and carries out what a deletion asked for: dependents
 * first, or let go.
 *
 * Owners are found by uid: an object of the same name that came later is another owner.
 */
export function startGarbageCollector(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store } = registry;
  const context = controllerContext("generic-garbage-collector");
  const record = eventRecorder(registry, { component: "garbage-collector-controller", context });
  const living = new Map<string, ObjectLocation>();
  const dependents = new Map<string, Set<string>>();
  /** Owners that were seen to be deleted. Other owners of unknown kinds may still exist. */
  const gone = new Set<string>();

  return startLoop(deps, {
    name: "garbage-collector-controller",
    watchAll: (change) => {
      follow(change);
      return concerned(change);
    },
    reconcile: async (text) => {
      const { bucket, key } = placeOf(text);
      const entry = store.get(bucket, key);
      if (!entry) return undefined;
      await asOwner(bucket, entry);
      return await asDependent(bucket, store.get(bucket, key));
    },
  });

  function follow({ bucket, key, type, entry, previous }: LogRecord): void {
    const text = nameOf({ bucket, key });
    for (const { uid } of previous ? owners(previous.object) : []) {
      const left = dependents.get(uid);
      left?.delete(text);
      if (left?.size === 0) dependents.delete(uid);
    }
    const { uid } = entry.object.metadata;
    if (type === "DELETED") {
      living.delete(uid);
      if (dependents.has(uid)) remember(gone, uid);
      return;
    }
    living.set(uid, { bucket, key });
    for (const owner of owners(entry.object)) {
      const known = dependents.get(owner.uid) ?? new Set();
      dependents.set(owner.uid, known.add(text));
    }
  }

  /**
   * The object itself if it has owners or is being deleted; its dependents if it is gone; its
   * owners if they wait for it.
   */
  function concerned({ bucket, key, type, entry, previous }: LogRecord): string[] {
    const places: string[] = [];
    const { uid } = entry.object.metadata;
    if (type === "DELETED") append(places, dependents.get(uid) ?? []);
    else if (isDeleting(entry.object) || owners(entry.object).length > 0)
      places.push(nameOf({ bucket, key }));
    const uids = [...owners(entry.object), ...(previous ? owners(previous.object) : [])].map(
      (owner) => owner.uid,
    );
    for (const owner of new Set(uids)) {
      const place = living.get(owner);
      if (place && isWaiting(store.get(place.bucket, place.key)?.object)) places.push(nameOf(place));
    }
    return places;
  }

  async function asOwner(bucket: string, { object }: Entry): Promise<void> {
    if (!isDeleting(object)) return;
    const finalizers = (object.metadata.finalizers ?? []) as string[];
    const { uid } = object.metadata;
    const own = [...(dependents.get(uid) ?? [])].map(placeOf);
    if (finalizers.includes(orphanFinalizer)) {
      for await (const place of unhurried(own)) await letGo(place, new Set([uid]));
      await dropFinalizer(bucket, object, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      const blocking = own.some((place) => blocks(store.get(place.bucket, place.key)?.object, uid));
      if (!blocking) await dropFinalizer(bucket, object, foregroundFinalizer);
      else
        for await (const place of unhurried(own))
          await asDependent(place.bucket, store.get(place.bucket, place.key));
    }
  }

  async function asDependent(bucket: string, entry: Entry | undefined): Promise<Again | undefined> {
    if (!entry || isDeleting(entry.object)) return undefined;
    const { object, key } = entry;
    const references = owners(object);
    if (references.length === 0) return undefined;
    const standings = await Promise.all(references.map((reference) => standing(object, reference)));
    const uidsOf = (...wanted: OwnerState[]) =>
      new Set(
        references.flatMap(({ uid }, index) =>
          wanted.includes(standings[index] as OwnerState) ? [uid] : [],
        ),
      );
    if (standings.includes("unresolvable")) return { requeueAfterMs: discoveryMs };
    if (standings.includes("solid")) {
      const lost = uidsOf("absent", "waiting");
      if (lost.size > 0) await letGo({ bucket, key }, lost);
      return undefined;
    }
    const own = [...(dependents.get(object.metadata.uid) ?? [])].map(placeOf);
    const waits = standings.includes("waiting") && own.length > 0;
    // Two objects may block each other: the cycle is broken here.
    if (waits && own.some((place) => isWaiting(store.get(place.bucket, place.key)?.object))) {
      await unblock({ bucket, key });
    }
    await remove({ bucket, key }, waits ? "Foreground" : undefined);
    return undefined;
  }

  async function standing(dependent: StoredObject, reference: StoredOwnerReference): Promise<OwnerState> {
    const place = living.get(reference.uid);
    const owner = place && store.get(place.bucket, place.key)?.object;
    const scope = scopeOf(reference);
    const namespace = dependent.metadata.namespace;
    if (namespace === undefined && scope === "namespaced") {
      await tellInvalid(dependent, reference);
      return "unresolvable";
    }
    if (!owner) return scope === undefined && !gone.has(reference.uid) ? "unresolvable" : "absent";
    const within = owner.metadata.namespace;
    const same =
      owner.kind === reference.kind &&
      owner.metadata.name === reference.name &&
      groupOf(owner.apiVersion) === groupOf(reference.apiVersion);
    if (!same) return "absent";
    if (within !== undefined && within !== namespace) {
      await tellInvalid(dependent, reference);
      return "absent";
    }
    return isWaiting(owner) ? "waiting" : "solid";
  }

  function scopeOf({ apiVersion, kind }: StoredOwnerReference): "namespaced" | "cluster" | undefined {
    const version = apiVersion.split("/").at(-1) ?? "";
    const info = kindNamed(registry, { group: groupOf(apiVersion), kind: kind, version });
    return info && (info.namespaced ? "namespaced" : "cluster");
  }

  async function tellInvalid(dependent: StoredObject, reference: StoredOwnerReference): Promise<void> {
    const { apiVersion, kind, name, uid } = reference;
    const namespace = dependent.metadata.namespace ?? "";
    // As the real collector does, which knows of objects only their names.
    const { resourceVersion: _version, ...metadata } = dependent.metadata;
    const named = { ...dependent, metadata: { ...metadata, resourceVersion: "" } };
    await record(named, {
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      message: `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist in namespace "${namespace}"`,
    });
  }

  async function remove({ bucket, key }: ObjectLocation, policy: "Foreground" | undefined): Promise<void> {
    const resource = registry.resourceOfBucket(bucket);
    const object = store.get(bucket, key)?.object;
    if (!resource || !object || isDeleting(object)) return;
    const { name, namespace, uid } = object.metadata;
    const target = { resource, namespace: namespace as string | undefined, name };
    const propagationPolicy = policy ?? ownPolicy(object);
    await unlessGone(registry.delete(target, { propagationPolicy, preconditions: { uid } }, context));
  }

  /** Unblocks the deletion of an object's owners. */
  async function unblock({ bucket, key }: ObjectLocation): Promise<void> {
    const resource = registry.resourceOfBucket(bucket);
    const object = store.get(bucket, key)?.object;
    if (!resource || !object) return;
    const edited = edit(registry, resource, object, context, (next) => {
      for (const reference of owners(next)) {
        if (reference.blockOwnerDeletion === true) reference.blockOwnerDeletion = false;
      }
    });
    await unlessGone(edited);
  }

  async function letGo({ bucket, key }: ObjectLocation, uids: ReadonlySet<string>): Promise<void> {
    const resource = registry.resourceOfBucket(bucket);
    const object = store.get(bucket, key)?.object;
    if (!resource || !object) return;
    const edited = edit(registry, resource, object, context, (next) => {
      const { metadata } = next;
      const left = owners(next).filter(({ uid }) => !uids.has(uid));
      if (left.length > 0) metadata.ownerReferences = left;
      else delete metadata.ownerReferences;
    });
    await unlessGone(edited);
  }

  async function dropFinalizer(bucket: string, object: StoredObject, finalizer: string): Promise<void> {
    const resource = registry.resourceOfBucket(bucket);
    if (resource) await setFinalizer(registry, resource, object, context, finalizer, "absent");
  }
}

/** How often unknown kinds are looked up again. */
const discoveryMs = 30_000;

/** The most deleted owners that are remembered. */
const remembered = 10_000;

function remember(gone: Set<string>, uid: string): void {
  gone.add(uid);
  const oldest = gone.keys().next();
  if (gone.size > remembered && !oldest.done) gone.delete(oldest.value);
}

/** What an object's own finalizers ask for. */
function ownPolicy(object: StoredObject): "Foreground" | "Background" | "Orphan" {
  const finalizers = (object.metadata.finalizers ?? []) as string[];
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}

function owners({ metadata }: StoredObject): StoredOwnerReference[] {
  return metadata.ownerReferences ?? [];
}

/** Whether an owner's deletion waits for its dependents. */
function isWaiting(object: StoredObject | undefined): boolean {
  const finalizers = (object?.metadata.finalizers ?? []) as string[];
  return object?.metadata.deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}

function blocks(dependent: StoredObject | undefined, ownerUid: string): boolean {
  return (
    dependent !== undefined &&
    owners(dependent).some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true)
  );
}

function nameOf({ bucket, key }: ObjectLocation): string {
  return `${bucket} ${key}`;
}

function placeOf(text: string): ObjectLocation {
  const space = text.indexOf(" ");
  return { bucket: text.slice(0, space), key: text.slice(space + 1) };
}
