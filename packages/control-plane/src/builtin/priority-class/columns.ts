import type { Json, JsonObject } from "../../json.ts";
import { countAt, textAt, valueAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function priorityClassCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    countAt(of, "value"),
    valueAt(of, "globalDefault") === true,
    age(of, now),
    textAt(of, "preemptionPolicy"),
  ];
}
