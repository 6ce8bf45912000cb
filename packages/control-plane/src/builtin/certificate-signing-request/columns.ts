import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, valueAt } from "../../json-fields.ts";
import { orNone } from "../../table/cells.ts";
import { humanDuration } from "../../table/duration.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function certificateSigningRequestCells(of: JsonObject, now: number): Json[] {
  const seconds = valueAt(of, "spec", "expirationSeconds");
  return [
    name(of),
    age(of, now),
    orNone(textAt(of, "spec", "signerName")),
    textAt(of, "spec", "username"),
    typeof seconds === "number" ? humanDuration(seconds * 1_000) : "<none>",
    signingStatus(of),
  ];
}

function signingStatus(of: JsonObject): string {
  const types = new Set(listAt(of, "status", "conditions").map((condition) => textAt(condition, "type")));
  let status = "Pending";
  if (types.has("Denied")) status = "Denied";
  else if (types.has("Approved")) status = "Approved";
  if (types.has("Failed")) status += ",Failed";
  if (textAt(of, "status", "certificate") !== "") status += ",Issued";
  return status;
}
