import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { selectorText } from "../../table/selectors.ts";

export function deploymentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    `${number(of, "status", "readyReplicas")}/${number(of, "spec", "replicas")}`,
    number(of, "status", "updatedReplicas"),
    number(of, "status", "availableReplicas"),
    age(of, now),
    ...templateCells(of),
    selectorText(at(of, "spec", "selector")),
  ];
}
