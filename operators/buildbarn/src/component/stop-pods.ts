import { condition, type ObjectMeta, type ReconcileContext } from "@windlass/runtime";
import { Deployment, type StatefulSet } from "@windlass/runtime/kinds";

/** How soon a component that is being deleted is looked at again, should no event come. */
const lookMs = 30_000;

/**
 * Keeps a component that is being deleted until its pods have stopped: what they write while they
 * stop is written, and once the component is gone nothing of it runs.
 */
export async function stopPods<S extends object>(
  object: { readonly metadata: Pick<ObjectMeta, "finalizers">; readonly status?: S | undefined },
  context: Pick<ReconcileContext, "owned" | "delete" | "key">,
  kind: typeof Deployment | typeof StatefulSet = Deployment,
  name = context.key.name,
) {
  const workload = context.owned(kind, name);
  // A deletion with --cascade=orphan keeps what it has made.
  if (workload === undefined || object.metadata.finalizers?.includes("orphan")) return undefined;
  if (workload.metadata.deletionTimestamp === undefined)
    await context.delete(kind, workload, { propagationPolicy: "Foreground" });
  const message = "its pods are stopping";
  return {
    status: {
      ...(object.status as S),
      state: "NotReady" as const,
      conditions: [
        condition("Ready", false, "Deleting", message),
        condition("Progressing", true, "Deleting", message),
      ],
    },
    requeueAfter: lookMs,
  };
}
