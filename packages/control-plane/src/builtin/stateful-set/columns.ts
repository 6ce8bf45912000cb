import type { Json, JsonObject } from "../../json.ts";
import { countAt } from "../../json-fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";

export function statefulSetCells(of: JsonObject, now: number): Json[] {
  const ready = `${countAt(of, "status", "readyReplicas")}/${countAt(of, "spec", "replicas")}`;
  return [name(of), ready, age(of, now), ...templateCells(of)];
}
