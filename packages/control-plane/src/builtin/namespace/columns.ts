import type { Json, JsonObject } from "../../json.ts";
import { text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function namespaceCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "status", "phase"), age(of, now)];
}
