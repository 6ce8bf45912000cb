import type { Json, JsonObject } from "../json.ts";
import { listAt, textAt } from "../json-fields.ts";
import { name } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function componentStatusCells(of: JsonObject): Json[] {
  const healthy = listAt(of, "conditions").find((condition) => textAt(condition, "type") === "Healthy");
  if (healthy === undefined) return [name(of), "Unknown", "", ""];
  const status = textAt(healthy, "status") === "True" ? "Healthy" : "Unhealthy";
  return [name(of), status, textAt(healthy, "message"), textAt(healthy, "error")];
}

export const componentStatusKind = {
  group: "",
  kind: "ComponentStatus",
  strategy: { names: "path", deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
  cells: componentStatusCells,
} satisfies KindDeclaration;
