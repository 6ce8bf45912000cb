import type { Json, JsonObject } from "../../json.ts";
import { objectAt } from "../../json-fields.ts";
import { quantity } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function resourceQuotaCells(of: JsonObject, now: number): Json[] {
  const hard = objectAt(of, "status", "hard");
  const entry = (resource: string) => {
    const amount = (field: string) => quantity("0", of, "status", field, resource);
    return `${resource}: ${amount("used")}/${amount("hard")}`;
  };
  const resources = Object.keys(hard).sort();
  const isLimit = (resource: string) => resource.startsWith("limits.");
  return [
    name(of),
    resources
      .filter((resource) => !isLimit(resource))
      .map(entry)
      .join(", "),
    resources.filter(isLimit).map(entry).join(", "),
    age(of, now),
  ];
}
