import type { Json, JsonObject } from "../../json.ts";
import { humanDuration, millisOf } from "../../table/duration.ts";
import { at, conditionStatus, list, number, text } from "../../table/fields.ts";
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
    formatSelector(at(of, "spec", "selector")),
  ];
}

function jobStatus(of: JsonObject): string {
  const conditions = list(of, "status", "conditions");
  const holds = (type: string) => conditionStatus(conditions, type) === "True";
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (at(of, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function jobCompletions(of: JsonObject): string {
  const succeeded = number(of, "status", "succeeded");
  const wanted = at(of, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = number(of, "spec", "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(of: JsonObject, now: number): string {
  const start = millisOf(text(of, "status", "startTime"));
  if (start === undefined) return "";
  return humanDuration((millisOf(text(of, "status", "completionTime")) ?? now) - start);
}
