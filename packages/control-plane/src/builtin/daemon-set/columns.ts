import type { DaemonSet } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, partAt } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function daemonSetCells(of: DaemonSet, now: number): Json[] {
  return [
    name(of),
    countAt(of, "status", "desiredNumberScheduled"),
    countAt(of, "status", "currentNumberScheduled"),
    countAt(of, "status", "numberReady"),
    countAt(of, "status", "updatedNumberScheduled"),
    countAt(of, "status", "numberAvailable"),
    formatLabels(partAt(partAt(of, "spec", "template"), "spec", "nodeSelector")),
    age(of, now),
    ...templateCells(of),
    formatSelector(partAt(of, "spec", "selector")),
  ];
}
