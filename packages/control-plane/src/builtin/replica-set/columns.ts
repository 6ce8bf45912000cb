import type { ReplicaSet, ReplicationController } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, partAt } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { formatLabels, formatSelector } from "../../table/selectors.ts";

export function replicaSetCells(of: ReplicaSet, now: number): Json[] {
  return [
    ...replicas(of),
    age(of, now),
    ...templateCells(of),
    formatSelector(partAt(of, "spec", "selector")),
  ];
}

export function replicationControllerCells(of: ReplicationController, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatLabels(partAt(of, "spec", "selector"))];
}

function replicas(of: ReplicaSet | ReplicationController): Json[] {
  return [
    name(of),
    countAt(of, "spec", "replicas"),
    countAt(of, "status", "replicas"),
    countAt(of, "status", "readyReplicas"),
  ];
}
