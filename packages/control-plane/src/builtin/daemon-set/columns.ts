import type { Json, JsonObject } from "../../json.ts";
import { countAt, valueAt } from "../../json-fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function daemonSetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    countAt(of, "status", "desiredNumberScheduled"),
    countAt(of, "status", "currentNumberScheduled"),
    countAt(of, "status", "numberReady"),
    countAt(of, "status", "updatedNumberScheduled"),
    countAt(of, "status", "numberAvailable"),
    formatLabels(valueAt(of, "spec", "template", "spec", "nodeSelector")),
    age(of, now),
    ...templateCells(of),
    formatSelector(valueAt(of, "spec", "selector")),
  ];
}
