import type { Namespace } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function namespaceCells(of: Namespace, now: number): Json[] {
  return [name(of), textAt(of, "status", "phase"), age(of, now)];
}
