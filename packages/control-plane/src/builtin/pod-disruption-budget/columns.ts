import type { Json, JsonObject } from "../../json.ts";
import { countAt } from "../../json-fields.ts";
import { shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function podDisruptionBudgetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("N/A", of, "spec", "minAvailable"),
    shown("N/A", of, "spec", "maxUnavailable"),
    countAt(of, "status", "disruptionsAllowed"),
    age(of, now),
  ];
}
