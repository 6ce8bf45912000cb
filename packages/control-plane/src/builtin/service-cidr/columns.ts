import type { Json, JsonObject } from "../../json.ts";
import { textsAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function serviceCidrCells(of: JsonObject, now: number): Json[] {
  return [name(of), textsAt(of, "spec", "cidrs").join(","), age(of, now)];
}
