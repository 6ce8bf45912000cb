import type { Json, JsonObject } from "../../json.ts";
import { at, list, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function apiServiceCells(of: JsonObject, now: number): Json[] {
  const service = at(of, "spec", "service");
  const available = list(of, "status", "conditions").find((each) => text(each, "type") === "Available");
  const status = available === undefined ? "Unknown" : text(available, "status");
  const reason = text(available, "reason");
  return [
    name(of),
    service === undefined ? "Local" : `${text(service, "namespace")}/${text(service, "name")}`,
    status === "True" || available === undefined ? status : `${status} (${reason})`,
    age(of, now),
  ];
}
