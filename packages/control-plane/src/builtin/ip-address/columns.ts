import type { IPAddress } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { partAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function ipAddressCells(of: IPAddress, now: number): Json[] {
  const parent = partAt(of, "spec", "parentRef");
  const group = textAt(parent, "group");
  const resource = `${textAt(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  const path = [resource, textAt(parent, "namespace"), textAt(parent, "name")].filter((part) => part !== "");
  // One cell more than there are columns, as the real server has it.
  return [name(of), parent === undefined ? "<none>" : path.join("/"), age(of, now)];
}
