import type { Json, JsonObject } from "../../json.ts";
import { texts } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function serviceCidrCells(of: JsonObject, now: number): Json[] {
  return [name(of), texts(of, "spec", "cidrs").join(","), age(of, now)];
}
