import type { Json, JsonObject } from "../../json.ts";
import { text } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { age, name } from "../../table/workload-cells.ts";

export const namespaceColumns: KindColumns = { resource: "namespaces.", cells: namespaceCells };

function namespaceCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "status", "phase"), age(of, now)];
}
