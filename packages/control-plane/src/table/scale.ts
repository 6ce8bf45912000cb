import type { Json, JsonObject } from "../json.ts";
import { countAt } from "../json-fields.ts";
import { age, name } from "./metadata-cells.ts";

/** The row of a Scale, the body of the subresource of that name. */
export function scaleCells(of: JsonObject, now: number): Json[] {
  return [name(of), countAt(of, "spec", "replicas"), countAt(of, "status", "replicas"), age(of, now)];
}
