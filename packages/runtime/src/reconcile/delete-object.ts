import {
  type AnyKind,
  type DeleteOptions,
  ignoreNotFound,
  isConflict,
  isNotFound,
  type KubernetesObject,
} from "@windlass/client";
import { describe, keyOf, type ReconcileClient } from "./client.ts";

/**
 * Deletes this very object: one of the same name that came later is not touched. That it is gone
 * already counts as done.
 *
 * @throws TypeError if the object has no uid, and so was not read from the server.
 */
export async function deleteObject(
  client: ReconcileClient,
  kind: AnyKind,
  object: KubernetesObject,
  options: Pick<DeleteOptions, "propagationPolicy" | "gracePeriodSeconds"> = {},
): Promise<void> {
  const { uid } = object.metadata;
  if (uid === undefined)
    throw new TypeError(
      `${describe(kind, keyOf(object))} has no metadata.uid; delete the object as the server or the cache gave it`,
    );
  try {
    await client.delete(kind, keyOf(object), { ...options, preconditions: { uid } });
  } catch (error) {
    if (isNotFound(error) || (isConflict(error) && (await isGone(client, kind, object)))) return;
    throw error;
  }
}

/** A conflict is most often that of the uid: the object is gone, and another has its name. */
async function isGone(client: ReconcileClient, kind: AnyKind, object: KubernetesObject): Promise<boolean> {
  const found = await ignoreNotFound(client.live.get(kind, keyOf(object)));
  return found?.metadata.uid !== object.metadata.uid;
}
