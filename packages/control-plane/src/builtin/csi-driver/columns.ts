import type { CSIDriver } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { orNone } from "../../table/cells.ts";
import { isTrueAt, itemsAt, shown, textAt, textsAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function csiDriverCells(of: CSIDriver, now: number): Json[] {
  const requests = itemsAt(of, "spec", "tokenRequests");
  return [
    name(of),
    shown("", of, "spec", "attachRequired") !== "false",
    isTrueAt(of, "spec", "podInfoOnMount"),
    isTrueAt(of, "spec", "storageCapacity"),
    requests.length === 0 ? "<unset>" : requests.map((request) => textAt(request, "audience")).join(","),
    isTrueAt(of, "spec", "requiresRepublish"),
    orNone(textsAt(of, "spec", "volumeLifecycleModes").join(",")),
    age(of, now),
  ];
}
