import type { ObjectOf } from "@windlass/runtime";
import type { Pod } from "@windlass/runtime/kinds";

/** What is wrong with a pod, in words that stay the same while the fault does. */
export interface PodFault {
  readonly reason: string;
  readonly message: string;
}

/** What is wrong with the first of the pods that something is wrong with. */
export function podFault(pods: readonly ObjectOf<typeof Pod>[]): PodFault | undefined {
  const byName = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const pod of byName) {
    const fault = faultOf(pod);
    if (fault) return fault;
  }
  return undefined;
}

function faultOf({ metadata: { name }, status }: ObjectOf<typeof Pod>): PodFault | undefined {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name: container, image, state, ready, lastState } of containers) {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason))
      return { reason: "ImagePullFailed", message: `pod ${name} cannot pull image ${image}` };
    // Between two crashes the container runs for a moment: that does not make it healthy.
    const end = ready ? undefined : (state?.terminated ?? lastState?.terminated);
    if (end && end.exitCode !== 0)
      return {
        reason: "CrashLoop",
        message: `container ${container} of pod ${name} ended with exit code ${end.exitCode}${terminationMessage(end.message)}`,
      };
    if (reason.endsWith("Error"))
      return { reason, message: `container ${container} of pod ${name} cannot start: ${message}` };
  }
  const placed = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (placed?.status !== "False") return undefined;
  return { reason: "Unschedulable", message: `pod ${name} has no node: ${placed.message}` };
}

/**
 * Which pod has a node, and nothing that it could run in yet. A volume that does not exist keeps it
 * so for ever, and only events report it.
 */
export function unstartedPod(pods: readonly ObjectOf<typeof Pod>[]): string | undefined {
  const [waiting] = pods
    .filter(({ metadata, status }) => {
      const has = (type: string, status_: string) =>
        status?.conditions?.some((one) => one.type === type && one.status === status_) ?? false;
      const isStaying = metadata.deletionTimestamp === undefined;
      return isStaying && has("PodScheduled", "True") && has("PodReadyToStartContainers", "False");
    })
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (!waiting) return undefined;
  const secrets = (waiting.spec?.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);
  const needs = secrets.length === 0 ? "" : `, such as Secret ${secrets.join(" and Secret ")}`;
  return `pod ${waiting.metadata.name} waits for its volumes${needs}, or its network`;
}

/** The last line that a program wrote, without the time at its start. */
export function terminationMessage(output = ""): string {
  const line = output.trim().split("\n").at(-1) ?? "";
  const text = line.replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, "");
  return text === "" ? "" : `: ${text.slice(0, 500)}`;
}
