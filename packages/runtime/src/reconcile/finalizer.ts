import {
  type AnyKind,
  ignoreNotFound,
  isConflict,
  isNotFound,
  type KubernetesObject,
  type ObjectOf,
} from "@windlass/client";
import { keyOf, type ReconcileClient } from "./client.ts";

const attempts = 5;

/**
 * The finalizer of a controller: `<group>/<controller>`, with Windlass' own domain for kinds of the
 * core group.
 */
export function finalizerName(kind: AnyKind, controller: string): string {
  return `${kind.group === "" ? "windlass.dev" : kind.group}/${controller}`;
}

/** Whether the object carries this finalizer. */
export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds the finalizer, and resolves to the object as it then is. Bound to the version that was read,
 * so that a concurrent change of the list is not lost; read again and repeated when there was one.
 */
export function addFinalizer<K extends AnyKind>(
  client: ReconcileClient,
  kind: K,
  object: ObjectOf<K>,
  finalizer: string,
): Promise<ObjectOf<K> | undefined> {
  return change(client, kind, object, (present) =>
    present.includes(finalizer) ? present : [...present, finalizer],
  );
}

/** Takes the finalizer away. The object may be gone afterwards; then this resolves to undefined. */
export function removeFinalizer<K extends AnyKind>(
  client: ReconcileClient,
  kind: K,
  object: ObjectOf<K>,
  finalizer: string,
): Promise<ObjectOf<K> | undefined> {
  return change(client, kind, object, (present) => present.filter((one) => one !== finalizer));
}

async function change<K extends AnyKind>(
  client: ReconcileClient,
  kind: K,
  object: ObjectOf<K>,
  edit: (present: readonly string[]) => readonly string[],
): Promise<ObjectOf<K> | undefined> {
  const uid = object.metadata.uid;
  const key = keyOf(object);
  let current = object;
  for (let attempt = 1; ; attempt += 1) {
    const present = current.metadata.finalizers ?? [];
    const finalizers = edit(present);
    if (finalizers.length === present.length) return current;
    try {
      return (await client.patch<AnyKind>(kind, key, {
        type: "merge",
        patch: { metadata: { resourceVersion: current.metadata.resourceVersion, finalizers } },
      })) as ObjectOf<K>;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
    const found = await ignoreNotFound(client.live.get<AnyKind>(kind, key));
    // A namesake: the object that was asked about no longer exists.
    if (found === undefined || found.metadata.uid !== uid) return undefined;
    current = found as ObjectOf<K>;
  }
}
