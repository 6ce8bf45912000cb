import { ignoreNotFound, type ReconcileContext } from "@windlass/runtime";
import type { ElastiServiceObject } from "./elasti-service.ts";
import { type KindLookup, kindOfTarget, TargetScale } from "./scale-target.ts";
import { ScaledObject, unpause } from "./scaled-object.ts";

/**
 * What was put to sleep: the target that was scaled to zero, and the ScaledObject that was paused
 * for it. It is stored before either is written, and stays until both are undone, whatever the spec
 * names by then.
 */
export type SleptTarget = NonNullable<NonNullable<ElastiServiceObject["status"]>["sleptTarget"]>;

/** What is put to sleep by a spec. */
export function sleptTargetOf({ scaleTargetRef, autoscaler }: ElastiServiceObject["spec"]): SleptTarget {
  const { apiVersion, kind, name } = scaleTargetRef;
  const scaledObject = autoscaler?.type === "keda" ? autoscaler.name : undefined;
  return { apiVersion, kind, name, ...(scaledObject !== undefined && { scaledObject }) };
}

/** Whether a spec names another target than the one that was put to sleep. */
export function isOtherTarget(slept: SleptTarget, { scaleTargetRef }: ElastiServiceObject["spec"]): boolean {
  const { apiVersion, kind, name } = scaleTargetRef;
  return slept.apiVersion !== apiVersion || slept.kind !== kind || slept.name !== name;
}

/**
 * Scales what was put to sleep up again and takes its pause back. What is gone needs neither, and
 * what others have scaled up meanwhile stays as it is.
 */
export async function restore(
  slept: SleptTarget,
  { metadata: { namespace }, spec }: Pick<ElastiServiceObject, "metadata" | "spec">,
  lookup: KindLookup,
  context: ReconcileContext,
): Promise<void> {
  const kind = await kindOfTarget(lookup, slept);
  if (kind) {
    const scale = new TargetScale(kind, { namespace, name: slept.name }, context.client);
    if ((await scale.replicas()) === 0) await ignoreNotFound(scale.set(spec.minTargetReplicas));
  }
  if (slept.scaledObject !== undefined) await unpauseNamed(namespace, slept.scaledObject, context);
}

/** Takes the pause of a ScaledObject back, if it is there and was paused by this operator. */
export async function unpauseNamed(
  namespace: string,
  name: string,
  context: ReconcileContext,
): Promise<void> {
  const key = { namespace, name };
  const found = await context.follow(ScaledObject, key);
  if (found) await ignoreNotFound(unpause(context, key, found));
}
