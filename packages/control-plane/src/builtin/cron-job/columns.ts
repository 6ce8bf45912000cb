import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, valueAt } from "../../json-fields.ts";
import { containerCells, shown } from "../../table/cells.ts";
import { since } from "../../table/duration.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatSelector } from "../../table/selectors.ts";

export function cronJobCells(of: JsonObject, now: number): Json[] {
  const last = textAt(of, "status", "lastScheduleTime");
  const suspend = valueAt(of, "spec", "suspend");
  const job = valueAt(of, "spec", "jobTemplate", "spec");
  return [
    name(of),
    textAt(of, "spec", "schedule"),
    shown("<none>", of, "spec", "timeZone"),
    typeof suspend === "boolean" ? (suspend ? "True" : "False") : "<unset>",
    listAt(of, "status", "active").length,
    last === "" ? "<none>" : since(last, now),
    age(of, now),
    ...containerCells(valueAt(job, "template", "spec")),
    formatSelector(valueAt(job, "selector")),
  ];
}
