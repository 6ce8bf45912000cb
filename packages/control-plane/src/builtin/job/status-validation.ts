import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, specOf, statusOf, textAt } from "../../json-fields.ts";
import { Faults } from "../../validation/faults.ts";

/** Validates a Job's status: consistent counters, and terminal conditions that stay. */
export function jobStatusFaults(next: JsonObject, live: JsonObject): Faults {
  const faults = new Faults();
  const [now, before] = [statusOf(next), statusOf(live)];
  for (const part of ["active", "succeeded", "failed", "ready", "terminating"]) {
    faults.atLeast(`status.${part}`, field(now, part));
  }
  if (is(now, "Complete") && is(now, "Failed")) {
    faults.invalidUnshown("status.conditions", "cannot set Complete=True and Failed=true conditions");
  }
  const complete = is(now, "Complete");
  if (complete && !hasAt(now, "completionTime")) {
    faults.required("status.completionTime", "completionTime is required for Complete jobs");
  }
  if (!complete && hasAt(now, "completionTime")) {
    faults.invalid(
      "status.completionTime",
      now.completionTime,
      "cannot set completionTime when there is no Complete=True condition",
    );
  }
  if (complete && !is(now, "SuccessCriteriaMet")) {
    faults.invalidUnshown(
      "status.conditions",
      "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    );
  }
  if (is(now, "Failed") && !is(now, "FailureTarget")) {
    faults.invalidUnshown(
      "status.conditions",
      "cannot set Failed=True condition without the FailureTarget=true condition",
    );
  }
  if (complete || is(now, "Failed")) {
    const active = numberAt(now, "active") ?? 0;
    if (active > 0) faults.invalid("status.active", active, "active>0 is invalid for finished job");
    const { suspend, completions } = specOf(next);
    const needsNoStart = suspend === true && completions === 0;
    if (!hasAt(now, "startTime") && !needsNoStart)
      faults.required("status.startTime", "startTime is required for finished job");
    const terminating = numberAt(now, "terminating") ?? 0;
    if (terminating > 0)
      faults.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job");
  }
  for (const type of ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"]) {
    if (is(before, type) && !is(now, type)) {
      faults.invalidUnshown("status.conditions", `cannot disable the terminal ${type}=True condition`);
    }
  }
  const [failed, had] = [numberAt(now, "failed") ?? 0, numberAt(before, "failed") ?? 0];
  if (failed < had) faults.invalid("status.failed", failed, "cannot decrease the failed counter");
  return faults;
}

function is(status: JsonObject, type: string): boolean {
  return itemsAt(status, "conditions").some(
    (condition) => textAt(condition, "type") === type && textAt(condition, "status") === "True",
  );
}
