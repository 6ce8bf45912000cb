import type { ObjectOf } from "@windlass/runtime";
import type { Deployment, Pod } from "@windlass/runtime/kinds";

/**
 * What is wrong with an app's pods, or with making them. The words stay the same while the fault
 * does, though the kubelet goes back and forth between trying and waiting: each change of them
 * would be a write.
 */
export function faultOf({ status }: ObjectOf<typeof Deployment>, pods: readonly ObjectOf<typeof Pod>[]) {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byName = staying.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const fault of byName.map(podFault)) if (fault) return fault;
  const { message = "" } = status?.conditions?.find(({ type }) => type === "ReplicaFailure") ?? {};
  const refused = message.includes("exceeded quota") ? "QuotaExceeded" : "PodsRefused";
  if (message) return { reason: refused, message };
  const progress = status?.conditions?.find(({ type }) => type === "Progressing");
  if (progress?.status !== "False") return undefined;
  return { reason: progress.reason ?? "Stalled", message: progress.message ?? "" };
}

function podFault({ metadata: { name }, status }: ObjectOf<typeof Pod>) {
  for (const { image, state, ready, lastState } of status?.containerStatuses ?? []) {
    const { reason = "", message } = state?.waiting ?? {};
    if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason))
      return { reason: "ImagePullFailed", message: `pod ${name} cannot pull image ${image}` };
    // Between two crashes the container runs for a moment: that does not make it healthy.
    const end = ready ? undefined : (state?.terminated ?? lastState?.terminated);
    if (end)
      return { reason: "CrashLoop", message: `pod ${name} keeps ending, with exit code ${end.exitCode}` };
    if (reason.endsWith("Error")) return { reason, message: `pod ${name} cannot start: ${message}` };
  }
  const placed = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (placed?.status !== "False") return undefined;
  return { reason: "Unschedulable", message: `pod ${name} has no node: ${placed.message}` };
}
