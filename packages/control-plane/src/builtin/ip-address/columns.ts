import type { Json, JsonObject } from "../../json.ts";
import { textAt, valueAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function ipAddressCells(of: JsonObject, now: number): Json[] {
  const parent = valueAt(of, "spec", "parentRef");
  const group = textAt(parent, "group");
  const resource = `${textAt(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  const path = [resource, textAt(parent, "namespace"), textAt(parent, "name")].filter((part) => part !== "");
  // One cell more than there are columns, as the real server has it.
  return [name(of), parent === undefined ? "<none>" : path.join("/"), age(of, now)];
}
