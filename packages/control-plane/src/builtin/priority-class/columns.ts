import type { PriorityClass } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, isTrueAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function priorityClassCells(of: PriorityClass, now: number): Json[] {
  return [
    name(of),
    countAt(of, "value"),
    isTrueAt(of, "globalDefault"),
    age(of, now),
    textAt(of, "preemptionPolicy"),
  ];
}
