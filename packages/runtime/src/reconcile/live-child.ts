import { type AnyKind, ignoreNotFound, type KubernetesObject, type ObjectKey } from "@windlass/client";
import type { ReconcileClient } from "./client.ts";
import { type AppliedFields, ownedFieldsOf } from "./managed-fields.ts";
import { isMarkedBy } from "./standing.ts";

/** An object on the server, and what our field manager owns of it: read only if it matters. */
export interface LiveChild {
  readonly object: KubernetesObject;
  readonly owned: () => (AppliedFields & { readonly version?: string }) | undefined;
}

/** The identity of a child among those of its owner. */
export function childId(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind}/${key.namespace ?? ""}/${key.name}`;
}

/** Whether a controller applied a child, by the object's mark and by the server. */
export function hasApplied({ object, owned }: LiveChild, fieldManager: string): boolean {
  return isMarkedBy(object, fieldManager) && owned() !== undefined;
}

/** An object as the server has it at this moment. */
export async function findChild(
  client: ReconcileClient,
  kind: AnyKind,
  key: ObjectKey,
  fieldManager: string,
): Promise<LiveChild | undefined> {
  const object = await ignoreNotFound<KubernetesObject>(client.live.get(kind, key));
  return object && { object, owned: () => ownedFieldsOf(object, fieldManager) };
}
