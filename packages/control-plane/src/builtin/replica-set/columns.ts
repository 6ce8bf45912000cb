import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";
import { age, name, templateCells } from "../../table/workload-cells.ts";

export const replicaSetColumns: KindColumns = { resource: "replicasets.apps", cells: replicaSetCells };
export const replicationControllerColumns: KindColumns = {
  resource: "replicationcontrollers.",
  cells: replicationControllerCells,
};

function replicaSetCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatSelector(at(of, "spec", "selector"))];
}

function replicationControllerCells(of: JsonObject, now: number): Json[] {
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
