import type { Json, JsonObject } from "../../json.ts";
import { since } from "../../table/duration.ts";
import { at, containerCells, list, shown, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatSelector } from "../../table/selectors.ts";

export function cronJobCells(of: JsonObject, now: number): Json[] {
  const last = text(of, "status", "lastScheduleTime");
  const suspend = at(of, "spec", "suspend");
  const job = at(of, "spec", "jobTemplate", "spec");
  return [
    name(of),
    text(of, "spec", "schedule"),
    shown("<none>", of, "spec", "timeZone"),
    typeof suspend === "boolean" ? (suspend ? "True" : "False") : "<unset>",
    list(of, "status", "active").length,
    last === "" ? "<none>" : since(last, now),
    age(of, now),
    ...containerCells(at(job, "template", "spec")),
    formatSelector(at(job, "selector")),
  ];
}
