import type { KubernetesObject, ObjectKey, ReconcileContext, ResourceKind } from "@windlass/runtime";
import { pausedAnnotation } from "./names.ts";

/** KEDA's ScaledObject, as far as its pause is concerned. */
export const ScaledObject: ResourceKind<KubernetesObject, KubernetesObject> = {
  group: "keda.sh",
  version: "v1alpha1",
  kind: "ScaledObject",
  plural: "scaledobjects",
  scope: "Namespaced",
};

const paused = "autoscaling.keda.sh/paused";
const pausedReplicas = "autoscaling.keda.sh/paused-replicas";

/** Who paused a ScaledObject. */
export type PausedBy = "none" | "us" | "others";

/** Who paused it, from its annotations. */
export function pausedBy({ metadata }: KubernetesObject): PausedBy {
  const annotations = metadata.annotations ?? {};
  if (annotations[pausedAnnotation] !== undefined) return "us";
  const isPaused = annotations[pausedReplicas] !== undefined || (annotations[paused] ?? "false") !== "false";
  return isPaused ? "others" : "none";
}

/**
 * Pauses it at zero, and notes on it what its annotations were. One that others paused is left
 * alone.
 */
export async function pause(
  { client }: ReconcileContext,
  key: ObjectKey,
  found: KubernetesObject,
): Promise<void> {
  if (pausedBy(found) !== "none") return;
  const before = { [paused]: found.metadata.annotations?.[paused] ?? null };
  const annotations = { [paused]: "true", [pausedReplicas]: "0", [pausedAnnotation]: JSON.stringify(before) };
  await client.patch(ScaledObject, key, { type: "merge", patch: { metadata: { annotations } } });
}

/** Takes our pause back, and no other. */
export async function unpause(
  { client }: ReconcileContext,
  key: ObjectKey,
  found: KubernetesObject,
): Promise<void> {
  if (pausedBy(found) !== "us") return;
  const restored = notedIn(found.metadata.annotations?.[pausedAnnotation]);
  const annotations = { [paused]: null, ...restored, [pausedReplicas]: null, [pausedAnnotation]: null };
  await client.patch(ScaledObject, key, { type: "merge", patch: { metadata: { annotations } } });
}

/**
 * What its annotations were before. A note that was changed does not count: then there were
 * none.
 */
function notedIn(note = "{}"): Readonly<Record<string, unknown>> {
  try {
    const before: unknown = JSON.parse(note);
    const value = typeof before === "object" && before !== null && paused in before ? before[paused] : null;
    return { [paused]: typeof value === "string" ? value : null };
  } catch {
    return {};
  }
}
