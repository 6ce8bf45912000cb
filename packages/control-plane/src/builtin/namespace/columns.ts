import type { Json, JsonObject } from "../../json.ts";
import { textAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function namespaceCells(of: JsonObject, now: number): Json[] {
  return [name(of), textAt(of, "status", "phase"), age(of, now)];
}
