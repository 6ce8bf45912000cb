import { isDeleting, listAt, namespaceOf, numberAt } from "../../controllers/objects.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { field, type StoredObject } from "../../storage/store.ts";
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
export function isFailed(job: StoredObject, pod: StoredObject): boolean {
  const phase = field(pod, "status", "phase");
  if (phase === "Failed") return true;
  if (field(job, "spec", "podReplacementPolicy") === "Failed") return false;
  return isDeleting(pod) && phase !== "Succeeded";
}

/** What the first rule that matches a failed pod says of it; it counts if none does. */
export function verdictOn(job: StoredObject, pod: StoredObject): Verdict {
  for (const [number, rule] of listAt(job, "spec", "podFailurePolicy", "rules").entries()) {
    const why = matchesRule(rule, pod);
    if (why === undefined) continue;
    if (rule.action === "Ignore" || rule.action === "FailIndex") return { action: rule.action };
    if (rule.action !== "FailJob") return { action: "Count" };
    return { action: "FailJob", message: `${why} matching FailJob rule at index ${number}` };
  }
  return { action: "Count" };
}

function matchesRule(rule: JsonObject, pod: StoredObject): string | undefined {
  const place = `${namespaceOf(pod)}/${pod.metadata.name}`;
  const codes = field(rule, "onExitCodes") as JsonObject | undefined;
  if (codes) {
    const values = (codes.values ?? []) as number[];
    const statuses = [
      ...listAt(pod, "status", "containerStatuses"),
      ...listAt(pod, "status", "initContainerStatuses"),
    ];
    for (const status of statuses) {
      if (codes.containerName && codes.containerName !== status.name) continue;
      const code = field(status, "state", "terminated", "exitCode");
      if (typeof code !== "number" || code === 0) continue;
      if (values.includes(code) === (codes.operator === "In")) {
        return `Container ${textOf(status.name)} for pod ${place} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  for (const pattern of listAt(rule, "onPodConditions")) {
    const met = listAt(pod, "status", "conditions").some(
      ({ type, status }) => type === pattern.type && status === (pattern.status ?? "True"),
    );
    if (met) return `Pod ${place} has condition ${textOf(pattern.type)}`;
  }
  return undefined;
}

/** Which of the success policy's rules these indexes satisfy, if any: its place among them. */
export function satisfiedRule(job: StoredObject, succeeded: ReadonlySet<number>): number | undefined {
  const completions = numberAt(job, ["spec", "completions"], 0);
  const rules = listAt(job, "spec", "successPolicy", "rules");
  const at = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const named =
      typeof succeededIndexes === "string" ? parseIndexes(succeededIndexes, completions) : [...succeeded];
    const met = named.filter((index) => succeeded.has(index)).length;
    return met >= (typeof succeededCount === "number" ? succeededCount : named.length);
  });
  return at < 0 ? undefined : at;
}
