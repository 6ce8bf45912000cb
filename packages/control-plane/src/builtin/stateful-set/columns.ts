import type { Json, JsonObject } from "../../json.ts";
import { number } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";

export function statefulSetCells(of: JsonObject, now: number): Json[] {
  const ready = `${number(of, "status", "readyReplicas")}/${number(of, "spec", "replicas")}`;
  return [name(of), ready, age(of, now), ...templateCells(of)];
}
