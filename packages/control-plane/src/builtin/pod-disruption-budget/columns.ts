import type { PodDisruptionBudget } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, shown } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function podDisruptionBudgetCells(of: PodDisruptionBudget, now: number): Json[] {
  return [
    name(of),
    shown("N/A", of, "spec", "minAvailable"),
    shown("N/A", of, "spec", "maxUnavailable"),
    countAt(of, "status", "disruptionsAllowed"),
    age(of, now),
  ];
}
