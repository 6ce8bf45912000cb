import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, valueAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function apiServiceCells(of: JsonObject, now: number): Json[] {
  const service = valueAt(of, "spec", "service");
  const available = listAt(of, "status", "conditions").find((each) => textAt(each, "type") === "Available");
  const status = available === undefined ? "Unknown" : textAt(available, "status");
  const reason = textAt(available, "reason");
  return [
    name(of),
    service === undefined ? "Local" : `${textAt(service, "namespace")}/${textAt(service, "name")}`,
    status === "True" || available === undefined ? status : `${status} (${reason})`,
    age(of, now),
  ];
}
