import type { Json, JsonObject } from "../../json.ts";
import { at, number } from "../../table/fields.ts";
import type { KindColumns } from "../../table/kind-columns.ts";
import { selectorText } from "../../table/selectors.ts";
import { age, name, templateCells } from "../../table/workload-cells.ts";

export const deploymentColumns: KindColumns = { resource: "deployments.apps", cells: deploymentCells };

function deploymentCells(of: JsonObject, now: number): Json[] {
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
