import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";
import { age, name, templateCells } from "../../table/workload-cells.ts";

export const daemonSetColumns: KindColumns = { resource: "daemonsets.apps", cells: daemonSetCells };

function daemonSetCells(of: JsonObject, now: number): Json[] {
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
