import type { StatefulSet } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";

export function statefulSetCells(of: StatefulSet, now: number): Json[] {
  const ready = `${countAt(of, "status", "readyReplicas")}/${countAt(of, "spec", "replicas")}`;
  return [name(of), ready, age(of, now), ...templateCells(of)];
}
