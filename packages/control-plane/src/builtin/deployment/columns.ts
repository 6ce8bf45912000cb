import type { Json, JsonObject } from "../../json.ts";
import { countAt, valueAt } from "../../json-fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { selectorText } from "../../table/selectors.ts";

export function deploymentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    `${countAt(of, "status", "readyReplicas")}/${countAt(of, "spec", "replicas")}`,
    countAt(of, "status", "updatedReplicas"),
    countAt(of, "status", "availableReplicas"),
    age(of, now),
    ...templateCells(of),
    selectorText(valueAt(of, "spec", "selector")),
  ];
}
