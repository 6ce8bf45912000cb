import type { ResourceQuota } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { namesAt, quantity } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function resourceQuotaCells(of: ResourceQuota, now: number): Json[] {
  const entry = (resource: string) => {
    const amount = (field: "hard" | "used") => quantity("0", of, "status", field, resource);
    return `${resource}: ${amount("used")}/${amount("hard")}`;
  };
  const resources = namesAt(of, "status", "hard").sort();
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
