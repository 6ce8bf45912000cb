import type { Json, JsonObject } from "../json.ts";
import { list, text } from "../table/fields.ts";
import { name } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function componentStatusCells(of: JsonObject): Json[] {
  const healthy = list(of, "conditions").find((condition) => text(condition, "type") === "Healthy");
  if (healthy === undefined) return [name(of), "Unknown", "", ""];
  const status = text(healthy, "status") === "True" ? "Healthy" : "Unhealthy";
  return [name(of), status, text(healthy, "message"), text(healthy, "error")];
}

export const componentStatusKind = {
  group: "",
  kind: "ComponentStatus",
  strategy: { names: "path", deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
  cells: componentStatusCells,
} satisfies KindDeclaration;
