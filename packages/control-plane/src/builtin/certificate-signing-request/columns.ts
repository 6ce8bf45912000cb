import type { Json, JsonObject } from "../../json.ts";
import { humanDuration } from "../../table/duration.ts";
import { at, list, orNone, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function certificateSigningRequestCells(of: JsonObject, now: number): Json[] {
  const seconds = at(of, "spec", "expirationSeconds");
  return [
    name(of),
    age(of, now),
    orNone(text(of, "spec", "signerName")),
    text(of, "spec", "username"),
    typeof seconds === "number" ? humanDuration(seconds * 1_000) : "<none>",
    signingStatus(of),
  ];
}

function signingStatus(of: JsonObject): string {
  const types = new Set(list(of, "status", "conditions").map((condition) => text(condition, "type")));
  let status = "Pending";
  if (types.has("Denied")) status = "Denied";
  else if (types.has("Approved")) status = "Approved";
  if (types.has("Failed")) status += ",Failed";
  if (text(of, "status", "certificate") !== "") status += ",Issued";
  return status;
}
