import type { Job, Pod } from "@windlass/kinds/builtin";
import { isDeleting } from "../../controllers/objects.ts";
import { namespaceOf } from "../../json-fields.ts";
import type { Stored } from "../../storage/typed.ts";
import { parseIndexes } from "./indexes.ts";

/** What a Job's pod failure policy decides about a failed pod. */
export type Verdict =
  /** It counts towards the limits. */
  | { readonly action: "Count" }
  /** It is ignored. */
  | { readonly action: "Ignore" }
  /** Its index is not tried again. */
  | { readonly action: "FailIndex" }
  /** The whole job fails. */
  | { readonly action: "FailJob"; readonly message: string };

/**
 * Whether a pod counts as failed. One that is being deleted does too, as it may never get to say
 * how it ended, unless the job waits for that.
 */
export function isFailed(job: Stored<Job>, pod: Stored<Pod>): boolean {
  const phase = pod.status?.phase;
  if (phase === "Failed") return true;
  if (job.spec.podReplacementPolicy === "Failed") return false;
  return isDeleting(pod) && phase !== "Succeeded";
}

/** What the first rule that matches a failed pod says of it; it counts if none does. */
export function verdictOn(job: Stored<Job>, pod: Stored<Pod>): Verdict {
  for (const [number, rule] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    const why = matchesRule(rule, pod);
    if (why === undefined) continue;
    if (rule.action === "Ignore" || rule.action === "FailIndex") return { action: rule.action };
    if (rule.action !== "FailJob") return { action: "Count" };
    return { action: "FailJob", message: `${why} matching FailJob rule at index ${number}` };
  }
  return { action: "Count" };
}

type FailurePolicy = NonNullable<Job["spec"]["podFailurePolicy"]>;
type FailureRule = NonNullable<FailurePolicy["rules"]>[number];

function matchesRule(rule: FailureRule, pod: Stored<Pod>): string | undefined {
  const place = `${namespaceOf(pod)}/${pod.metadata.name}`;
  const codes = rule.onExitCodes;
  if (codes) {
    const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
    for (const status of statuses) {
      if (codes.containerName && codes.containerName !== status.name) continue;
      const code = status.state?.terminated?.exitCode;
      if (code === undefined || code === 0) continue;
      if (codes.values.includes(code) === (codes.operator === "In")) {
        return `Container ${status.name} for pod ${place} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  for (const pattern of rule.onPodConditions ?? []) {
    const met = (pod.status?.conditions ?? []).some(
      ({ type, status }) => type === pattern.type && status === (pattern.status ?? "True"),
    );
    if (met) return `Pod ${place} has condition ${pattern.type}`;
  }
  return undefined;
}

/** Which of the success policy's rules these indexes satisfy, if any: its place among them. */
export function satisfiedRule(job: Stored<Job>, succeeded: ReadonlySet<number>): number | undefined {
  const completions = job.spec.completions ?? 0;
  const rules = job.spec.successPolicy?.rules ?? [];
  const at = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const named =
      succeededIndexes !== undefined ? parseIndexes(succeededIndexes, completions) : [...succeeded];
    const met = named.filter((index) => succeeded.has(index)).length;
    return met >= (succeededCount ?? named.length);
  });
  return at < 0 ? undefined : at;
}
