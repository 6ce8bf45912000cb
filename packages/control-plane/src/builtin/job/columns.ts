import type { Job } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { conditionStatus } from "../../table/cells.ts";
import { humanDuration, millisOf } from "../../table/duration.ts";
import { countAt, itemsAt, partAt, shown, textAt } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatSelector } from "../../table/selectors.ts";

export function jobCells(of: Job, now: number): Json[] {
  return [
    name(of),
    jobStatus(of),
    jobCompletions(of),
    jobDuration(of, now),
    age(of, now),
    ...templateCells(of),
    formatSelector(partAt(of, "spec", "selector")),
  ];
}

function jobStatus(of: Job): string {
  const conditions = itemsAt(of, "status", "conditions");
  const holds = (type: string) => conditionStatus(conditions, type) === "True";
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (textAt(of, "metadata", "deletionTimestamp") !== "") return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function jobCompletions(of: Job): string {
  const succeeded = countAt(of, "status", "succeeded");
  const wanted = shown("", of, "spec", "completions");
  if (wanted !== "") return `${succeeded}/${wanted}`;
  const parallelism = countAt(of, "spec", "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(of: Job, now: number): string {
  const start = millisOf(textAt(of, "status", "startTime"));
  if (start === undefined) return "";
  return humanDuration((millisOf(textAt(of, "status", "completionTime")) ?? now) - start);
}
