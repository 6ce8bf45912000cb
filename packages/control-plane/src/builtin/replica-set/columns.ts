import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function replicaSetCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatSelector(at(of, "spec", "selector"))];
}

export function replicationControllerCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatLabels(at(of, "spec", "selector"))];
}

function replicas(of: JsonObject): Json[] {
  return [
    name(of),
    number(of, "spec", "replicas"),
    number(of, "status", "replicas"),
    number(of, "status", "readyReplicas"),
  ];
}
