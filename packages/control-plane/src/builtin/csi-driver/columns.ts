import type { Json, JsonObject } from "../../json.ts";
import { at, list, orNone, text, texts } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function csiDriverCells(of: JsonObject, now: number): Json[] {
  const requests = list(of, "spec", "tokenRequests");
  return [
    name(of),
    at(of, "spec", "attachRequired") !== false,
    at(of, "spec", "podInfoOnMount") === true,
    at(of, "spec", "storageCapacity") === true,
    requests.length === 0 ? "<unset>" : requests.map((request) => text(request, "audience")).join(","),
    at(of, "spec", "requiresRepublish") === true,
    orNone(texts(of, "spec", "volumeLifecycleModes").join(",")),
    age(of, now),
  ];
}
