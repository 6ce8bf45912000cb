import type { Json, JsonObject } from "../../json.ts";
import { number, shown } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function podDisruptionBudgetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("N/A", of, "spec", "minAvailable"),
    shown("N/A", of, "spec", "maxUnavailable"),
    number(of, "status", "disruptionsAllowed"),
    age(of, now),
  ];
}
