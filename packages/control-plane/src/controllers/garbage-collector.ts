import { clone, isObject, type JsonObject, textOf } from "../json.ts";
import { foregroundFinalizer, orphanFinalizer } from "../registry/deletion.ts";
import { StatusError } from "../status.ts";
import type { Entry, LogRecord, StoredObject } from "../storage/store.ts";
import {
  type ControllerWorld,
  controllerContext,
  type Running,
  resourceOfBucket,
  startLoop,
} from "./loop.ts";

interface Place {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Deletes what has lost its last owner, and carries out what a deletion asked for: dependents first, or let go.
 *
 * Owners are found by uid: an object of the same name that came later is another owner.
 */
export function startGarbageCollector(world: ControllerWorld): Running {
  const { registry } = world;
  const { store } = registry;
  const context = controllerContext("generic-garbage-collector");
  const living = new Map<string, Place>();
  const dependents = new Map<string, Set<string>>();

  return startLoop(world, {
    name: "garbage-collector",
    watchAll: (record) => {
      follow(record);
      return concerned(record);
    },
    reconcile: async (text) => {
      const { bucket, key } = placeOf(text);
      const entry = store.get(bucket, key);
      if (!entry) return;
      await asOwner(bucket, entry);
      await asDependent(bucket, store.get(bucket, key));
    },
  });

  function follow({ bucket, key, type, entry, previous }: LogRecord): void {
    const text = nameOf({ bucket, key });
    for (const uid of previous ? ownerUids(previous.object) : []) {
      const left = dependents.get(uid);
      left?.delete(text);
      if (left?.size === 0) dependents.delete(uid);
    }
    const { uid } = entry.object.metadata;
    if (type === "DELETED") {
      living.delete(uid);
      return;
    }
    living.set(uid, { bucket, key });
    for (const owner of ownerUids(entry.object)) {
      const known = dependents.get(owner) ?? new Set();
      dependents.set(owner, known.add(text));
    }
  }

  /** The object itself if it has owners or is on its way out; its dependents if it is gone; its owners if they wait for it. */
  function concerned({ bucket, key, type, entry, previous }: LogRecord): string[] {
    const places: string[] = [];
    const { uid, deletionTimestamp } = entry.object.metadata;
    if (type === "DELETED") places.push(...(dependents.get(uid) ?? []));
    else if (deletionTimestamp !== undefined || ownerUids(entry.object).length > 0)
      places.push(nameOf({ bucket, key }));
    for (const owner of new Set([
      ...ownerUids(entry.object),
      ...(previous ? ownerUids(previous.object) : []),
    ])) {
      const place = living.get(owner);
      if (place && isWaiting(store.get(place.bucket, place.key)?.object)) places.push(nameOf(place));
    }
    return places;
  }

  async function asOwner(bucket: string, entry: Entry): Promise<void> {
    const { object } = entry;
    if (object.metadata.deletionTimestamp === undefined) return;
    const finalizers = (object.metadata.finalizers ?? []) as string[];
    const own = [...(dependents.get(object.metadata.uid) ?? [])].map(placeOf);
    if (finalizers.includes(orphanFinalizer)) {
      for (const place of own) await letGo(place, new Set([object.metadata.uid]));
      await dropFinalizer(bucket, object, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      for (const place of own) await remove(place, "Foreground");
      const blocking = own.some(({ bucket: of, key }) =>
        blocks(store.get(of, key)?.object, object.metadata.uid),
      );
      if (!blocking) await dropFinalizer(bucket, object, foregroundFinalizer);
    }
  }

  async function asDependent(bucket: string, entry: Entry | undefined): Promise<void> {
    if (!entry) return;
    const { object } = entry;
    const owners = ownerUids(object);
    if (owners.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
    const gone = owners.filter((uid) => !holds(uid, object));
    if (gone.length === 0) return;
    if (gone.length < owners.length) await letGo({ bucket, key: entry.key }, new Set(gone));
    else await remove({ bucket, key: entry.key }, "Background");
  }

  /** An owner counts if it lives, and where the dependent can see it: in its own namespace, or in none. */
  function holds(uid: string, dependent: StoredObject): boolean {
    const place = living.get(uid);
    if (!place) return false;
    const owner = store.get(place.bucket, place.key)?.object;
    const within = owner?.metadata.namespace;
    return within === undefined || within === dependent.metadata.namespace;
  }

  async function remove({ bucket, key }: Place, policy: "Foreground" | "Background"): Promise<void> {
    const resource = resourceOfBucket(registry, bucket);
    const object = store.get(bucket, key)?.object;
    if (!resource || !object || object.metadata.deletionTimestamp !== undefined) return;
    const { name, namespace, uid } = object.metadata;
    const target = { resource, namespace: namespace as string | undefined, name };
    await unlessGone(registry.delete(target, { propagationPolicy: policy, preconditions: { uid } }, context));
  }

  async function letGo(place: Place, uids: ReadonlySet<string>): Promise<void> {
    await change(place, (metadata) => {
      const left = ((metadata.ownerReferences ?? []) as JsonObject[]).filter(
        ({ uid }) => !uids.has(textOf(uid)),
      );
      if (left.length > 0) metadata.ownerReferences = left;
      else delete metadata.ownerReferences;
    });
  }

  async function dropFinalizer(bucket: string, object: StoredObject, finalizer: string): Promise<void> {
    const key =
      object.metadata.namespace === undefined
        ? object.metadata.name
        : `${textOf(object.metadata.namespace)}/${object.metadata.name}`;
    await change({ bucket, key }, (metadata) => {
      metadata.finalizers = ((metadata.finalizers ?? []) as string[]).filter((name) => name !== finalizer);
    });
  }

  async function change({ bucket, key }: Place, edit: (metadata: JsonObject) => void): Promise<void> {
    const resource = resourceOfBucket(registry, bucket);
    const object = store.get(bucket, key)?.object;
    if (!resource || !object) return;
    const target = {
      resource,
      namespace: object.metadata.namespace as string | undefined,
      name: object.metadata.name,
    };
    const edited = registry.update(
      target,
      context,
      (live) => {
        const next = clone(live);
        edit(next.metadata as JsonObject);
        return next;
      },
      { kind: "PatchOptions" },
    );
    await unlessGone(edited);
  }
}

async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}

function ownerUids(object: JsonObject): string[] {
  const references = (object.metadata as JsonObject).ownerReferences;
  return Array.isArray(references) ? references.filter(isObject).map(({ uid }) => textOf(uid)) : [];
}

/** Whether an owner's deletion waits for its dependents. */
function isWaiting(object: StoredObject | undefined): boolean {
  const finalizers = (object?.metadata.finalizers ?? []) as string[];
  return object?.metadata.deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}

function blocks(dependent: StoredObject | undefined, ownerUid: string): boolean {
  const references = (dependent?.metadata.ownerReferences ?? []) as JsonObject[];
  return references.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true);
}

function nameOf({ bucket, key }: Place): string {
  return `${bucket} ${key}`;
}

function placeOf(text: string): Place {
  const space = text.indexOf(" ");
  return { bucket: text.slice(0, space), key: text.slice(space + 1) };
}
