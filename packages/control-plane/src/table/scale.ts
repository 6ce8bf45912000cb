import type { Json, JsonObject } from "../json.ts";
import { number } from "./fields.ts";
import { age, name } from "./metadata-cells.ts";

/** The row of a Scale, the body of the subresource of that name. */
export function scaleCells(of: JsonObject, now: number): Json[] {
  return [name(of), number(of, "spec", "replicas"), number(of, "status", "replicas"), age(of, now)];
}
