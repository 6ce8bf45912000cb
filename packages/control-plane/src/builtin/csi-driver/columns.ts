import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, textsAt, valueAt } from "../../json-fields.ts";
import { orNone } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function csiDriverCells(of: JsonObject, now: number): Json[] {
  const requests = listAt(of, "spec", "tokenRequests");
  return [
    name(of),
    valueAt(of, "spec", "attachRequired") !== false,
    valueAt(of, "spec", "podInfoOnMount") === true,
    valueAt(of, "spec", "storageCapacity") === true,
    requests.length === 0 ? "<unset>" : requests.map((request) => textAt(request, "audience")).join(","),
    valueAt(of, "spec", "requiresRepublish") === true,
    orNone(textsAt(of, "spec", "volumeLifecycleModes").join(",")),
    age(of, now),
  ];
}
