import type { Json, JsonObject } from "../../json.ts";
import { number } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { age, name, templateCells } from "../../table/workload-cells.ts";

export const statefulSetColumns: KindColumns = { resource: "statefulsets.apps", cells: statefulSetCells };

function statefulSetCells(of: JsonObject, now: number): Json[] {
  const ready = `${number(of, "status", "readyReplicas")}/${number(of, "spec", "replicas")}`;
  return [name(of), ready, age(of, now), ...templateCells(of)];
}
