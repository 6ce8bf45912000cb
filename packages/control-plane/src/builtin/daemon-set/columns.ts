import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function daemonSetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    number(of, "status", "desiredNumberScheduled"),
    number(of, "status", "currentNumberScheduled"),
    number(of, "status", "numberReady"),
    number(of, "status", "updatedNumberScheduled"),
    number(of, "status", "numberAvailable"),
    formatLabels(at(of, "spec", "template", "spec", "nodeSelector")),
    age(of, now),
    ...templateCells(of),
    formatSelector(at(of, "spec", "selector")),
  ];
}
