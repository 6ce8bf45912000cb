import type { Json, JsonObject } from "../../json.ts";
import { object, quantity } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function resourceQuotaCells(of: JsonObject, now: number): Json[] {
  const hard = object(of, "status", "hard");
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
