import type { Json, JsonObject } from "../../json.ts";
import { countAt, valueAt } from "../../json-fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function replicaSetCells(of: JsonObject, now: number): Json[] {
  return [
    ...replicas(of),
    age(of, now),
    ...templateCells(of),
    formatSelector(valueAt(of, "spec", "selector")),
  ];
}

export function replicationControllerCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatLabels(valueAt(of, "spec", "selector"))];
}

function replicas(of: JsonObject): Json[] {
  return [
    name(of),
    countAt(of, "spec", "replicas"),
    countAt(of, "status", "replicas"),
    countAt(of, "status", "readyReplicas"),
  ];
}
