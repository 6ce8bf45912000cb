import type { ObjectOf } from "@windlass/runtime";
import type { Pod } from "@windlass/runtime/kinds";
import { buildkitdContainer } from "../pool/pod-overrides.ts";

/** Why a pod is not ready yet, and whether waiting may help. */
export interface StartProblem {
  /** In one CamelCase word. */
  readonly reason: string;
  readonly message: string;
  readonly isFinal: boolean;
}

/** What is seen of a worker's pod. */
export type PodSeen =
  | { readonly is: "absent" }
  /** Its daemon has not answered yet. */
  | { readonly is: "starting"; readonly problem?: StartProblem }
  | { readonly is: "ready"; readonly ip: string; readonly node: string | undefined }
  /** Its daemon runs, and has not answered its last probes. */
  | { readonly is: "unready"; readonly ip: string; readonly node: string | undefined }
  /** Its daemon has ended. It never starts again. */
  | { readonly is: "ended"; readonly reason: string; readonly message: string }
  /** It is being deleted. Its daemon may still run. */
  | { readonly is: "stopping"; readonly ip: string | undefined };

/** Reasons of a container that is waiting which no waiting will mend. */
const hopeless = new Set(["ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"]);

/** Reads a pod. */
export function seenPod(pod: ObjectOf<typeof Pod> | undefined): PodSeen {
  if (!pod) return { is: "absent" };
  const { metadata, status, spec } = pod;
  const container = status?.containerStatuses?.find(({ name }) => name === buildkitdContainer);
  const end = container?.state?.terminated;
  if (status?.phase === "Failed" || status?.phase === "Succeeded" || end) {
    const reason = status?.reason ?? end?.reason ?? "Ended";
    const exit = end ? `buildkitd ended with exit code ${end.exitCode}` : undefined;
    const message = [status?.message ?? exit ?? "the pod has ended", end?.message?.trim()]
      .filter(Boolean)
      .join(": ");
    return { is: "ended", reason, message };
  }
  if (metadata.deletionTimestamp !== undefined) return { is: "stopping", ip: status?.podIP };
  const ip = status?.podIP;
  const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
  if (ip !== undefined && isReady) return { is: "ready", ip, node: spec?.nodeName };
  // `started` is true once the startup probe has passed, and stays so.
  if (ip !== undefined && container?.started && container.state?.running)
    return { is: "unready", ip, node: spec?.nodeName };
  const problem = problemOf(pod);
  return { is: "starting", ...(problem && { problem }) };
}

function problemOf({ status }: ObjectOf<typeof Pod>): StartProblem | undefined {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, image, state } of containers) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason === undefined || reason === "ContainerCreating" || reason === "PodInitializing") continue;
    if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason))
      return {
        reason: "ImagePullFailed",
        message: `image ${image} cannot be pulled: ${message || reason}`,
        isFinal: hopeless.has(reason),
      };
    return {
      reason,
      message: `container ${name} cannot start: ${message || reason}`,
      isFinal: hopeless.has(reason),
    };
  }
  const placed = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (placed?.status !== "False") return undefined;
  return { reason: "Unschedulable", message: `no node for the pod: ${placed.message ?? ""}`, isFinal: false };
}
