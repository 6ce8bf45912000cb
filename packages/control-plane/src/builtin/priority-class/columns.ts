import type { Json, JsonObject } from "../../json.ts";
import { at, number, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function priorityClassCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    number(of, "value"),
    at(of, "globalDefault") === true,
    age(of, now),
    text(of, "preemptionPolicy"),
  ];
}
