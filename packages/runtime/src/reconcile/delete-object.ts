import {
  type AnyKind,
  type DeleteOptions,
  ignoreNotFound,
  isConflict,
  isNotFound,
  type KubernetesObject,
} from "@windlass/client";
import { describe, keyOf, type ReconcileClient } from "./client.ts";

interface DeleteObjectOptions extends Pick<DeleteOptions, "propagationPolicy" | "gracePeriodSeconds"> {
  readonly resourceVersion?: string | undefined;
}

/**
 * Deletes this very object: one of the same name that came later is not touched. That it is gone
 * already counts as done.
 *
 * @param options with a `resourceVersion`, the object is deleted only if that is its version.
 * @throws TypeError if the object has no uid, and so was not read from the server.
 */
export async function deleteObject(
  client: ReconcileClient,
  kind: AnyKind,
  object: KubernetesObject,
  { resourceVersion, ...options }: DeleteObjectOptions = {},
): Promise<void> {
  const { uid } = object.metadata;
  if (uid === undefined)
    throw new TypeError(
      `${describe(kind, keyOf(object))} has no metadata.uid; delete the object as the server or the cache gave it`,
    );
  try {
    const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    await client.delete(kind, keyOf(object), { ...options, preconditions });
  } catch (error) {
    if (isNotFound(error) || (isConflict(error) && (await isGone(client, kind, object)))) return;
    throw error;
  }
}

/**
 * A conflict is most often that of the uid: the object no longer exists, and another has its name.
 */
async function isGone(client: ReconcileClient, kind: AnyKind, object: KubernetesObject): Promise<boolean> {
  const found = await ignoreNotFound(client.live.get(kind, keyOf(object)));
  return found?.metadata.uid !== object.metadata.uid;
}
