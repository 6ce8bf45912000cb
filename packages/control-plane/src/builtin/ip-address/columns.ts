import type { Json, JsonObject } from "../../json.ts";
import { at, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function ipAddressCells(of: JsonObject, now: number): Json[] {
  const parent = at(of, "spec", "parentRef");
  const group = text(parent, "group");
  const resource = `${text(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  const path = [resource, text(parent, "namespace"), text(parent, "name")].filter((part) => part !== "");
  // One cell more than there are columns, as the real server has it.
  return [name(of), parent === undefined ? "<none>" : path.join("/"), age(of, now)];
}
