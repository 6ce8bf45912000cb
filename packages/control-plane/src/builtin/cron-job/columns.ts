import type { CronJob } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { containerCells } from "../../table/cells.ts";
import { since } from "../../table/duration.ts";
import { lengthAt, partAt, shown, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatSelector } from "../../table/selectors.ts";

export function cronJobCells(of: CronJob, now: number): Json[] {
  const last = textAt(of, "status", "lastScheduleTime");
  const suspend = shown("", of, "spec", "suspend");
  const job = partAt(of, "spec", "jobTemplate", "spec");
  return [
    name(of),
    textAt(of, "spec", "schedule"),
    shown("<none>", of, "spec", "timeZone"),
    suspend === "" ? "<unset>" : suspend === "true" ? "True" : "False",
    lengthAt(of, "status", "active"),
    last === "" ? "<none>" : since(last, now),
    age(of, now),
    ...containerCells(partAt(job, "template", "spec")),
    formatSelector(partAt(job, "selector")),
  ];
}
