import type { Json, JsonObject } from "../../json.ts";
import { number, shown } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { age, name } from "../../table/workload-cells.ts";

export const podDisruptionBudgetColumns: KindColumns = {
  resource: "poddisruptionbudgets.policy",
  cells: podDisruptionBudgetCells,
};

function podDisruptionBudgetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("N/A", of, "spec", "minAvailable"),
    shown("N/A", of, "spec", "maxUnavailable"),
    number(of, "status", "disruptionsAllowed"),
    age(of, now),
  ];
}
