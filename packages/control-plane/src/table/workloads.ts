import type { Json, JsonObject } from "../json.ts";
import { at, containerCells, list, number, object, text } from "./fields.ts";
import { formatLabels } from "./selectors.ts";
import { age, name } from "./workload-cells.ts";

export function podTemplateCells(of: JsonObject): Json[] {
  return [
    name(of),
    ...containerCells(at(of, "template", "spec")),
    formatLabels(at(of, "template", "metadata", "labels")),
  ];
}

export function controllerRevisionCells(of: JsonObject, now: number): Json[] {
  const owner = list(of, "metadata", "ownerReferences").find((each) => at(each, "controller") === true);
  return [
    name(of),
    owner === undefined ? "<none>" : ownerName(object(owner)),
    number(of, "revision"),
    age(of, now),
  ];
}

function ownerName(owner: JsonObject): string {
  const [group = "", version] = text(owner, "apiVersion").split("/");
  const kind = text(owner, "kind");
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return `${qualified.toLowerCase()}/${text(owner, "name")}`;
}
