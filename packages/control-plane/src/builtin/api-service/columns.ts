import type { APIService } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { itemsAt, partAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function apiServiceCells(of: APIService, now: number): Json[] {
  const service = partAt(of, "spec", "service");
  const available = itemsAt(of, "status", "conditions").find((each) => textAt(each, "type") === "Available");
  const status = available === undefined ? "Unknown" : textAt(available, "status");
  const reason = textAt(available, "reason");
  return [
    name(of),
    service === undefined ? "Local" : `${textAt(service, "namespace")}/${textAt(service, "name")}`,
    status === "True" || available === undefined ? status : `${status} (${reason})`,
    age(of, now),
  ];
}
