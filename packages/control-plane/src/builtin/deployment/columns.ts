import type { Deployment } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, partAt } from "../../table/fields.ts";
import { age, name, templateCells } from "../../table/metadata-cells.ts";
import { selectorText } from "../../table/selectors.ts";

export function deploymentCells(of: Deployment, now: number): Json[] {
  return [
    name(of),
    `${countAt(of, "status", "readyReplicas")}/${countAt(of, "spec", "replicas")}`,
    countAt(of, "status", "updatedReplicas"),
    countAt(of, "status", "availableReplicas"),
    age(of, now),
    ...templateCells(of),
    selectorText(partAt(of, "spec", "selector")),
  ];
}
