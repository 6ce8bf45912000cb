import type { Json, JsonObject } from "../../json.ts";
import { countAt, listAt, textAt, valueAt } from "../../json-fields.ts";
import { conditionStatus } from "../../table/cells.ts";
import { humanDuration, millisOf } from "../../table/duration.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatSelector } from "../../table/selectors.ts";

export function jobCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    jobStatus(of),
    jobCompletions(of),
    jobDuration(of, now),
    age(of, now),
    ...templateCells(of),
    formatSelector(valueAt(of, "spec", "selector")),
  ];
}

function jobStatus(of: JsonObject): string {
  const conditions = listAt(of, "status", "conditions");
  const holds = (type: string) => conditionStatus(conditions, type) === "True";
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (valueAt(of, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function jobCompletions(of: JsonObject): string {
  const succeeded = countAt(of, "status", "succeeded");
  const wanted = valueAt(of, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = countAt(of, "spec", "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(of: JsonObject, now: number): string {
  const start = millisOf(textAt(of, "status", "startTime"));
  if (start === undefined) return "";
  return humanDuration((millisOf(textAt(of, "status", "completionTime")) ?? now) - start);
}
