import type { ObjectMeta, ReconcileContext } from "@windlass/runtime";
import { Event, type Job, type StatefulSet } from "@windlass/runtime/kinds";

/** How long an event counts that is not repeated: controllers try again within it. */
const EVENT_MS = 20 * 60_000;

/**
 * Why no pod can be created for an object, such as a ResourceQuota or an admission webhook. A Job
 * or a StatefulSet reports it by events alone.
 */
export async function refusedPods(
  kind: typeof Job | typeof StatefulSet,
  { namespace = "", name }: Pick<ObjectMeta, "namespace" | "name">,
  { live, clock }: Pick<ReconcileContext, "live" | "clock">,
): Promise<string | undefined> {
  const fieldSelector = `involvedObject.kind=${kind.kind},involvedObject.name=${name},reason=FailedCreate`;
  const { items } = await live.list(Event, { namespace, fieldSelector });
  const at = ({ lastTimestamp, eventTime, metadata }: (typeof items)[number]) =>
    Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
  const [last] = items.toSorted((a, b) => at(b) - at(a));
  return last && at(last) + EVENT_MS > clock.now() ? last.message : undefined;
}
