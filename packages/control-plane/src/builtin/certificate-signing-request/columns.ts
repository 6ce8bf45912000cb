import type { CertificateSigningRequest } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { orNone } from "../../table/cells.ts";
import { humanDuration } from "../../table/duration.ts";
import { countAt, itemsAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function certificateSigningRequestCells(of: CertificateSigningRequest, now: number): Json[] {
  const seconds = countAt(of, "spec", "expirationSeconds");
  return [
    name(of),
    age(of, now),
    orNone(textAt(of, "spec", "signerName")),
    textAt(of, "spec", "username"),
    seconds === 0 ? "<none>" : humanDuration(seconds * 1_000),
    signingStatus(of),
  ];
}

function signingStatus(of: CertificateSigningRequest): string {
  const types = new Set(itemsAt(of, "status", "conditions").map((condition) => textAt(condition, "type")));
  let status = "Pending";
  if (types.has("Denied")) status = "Denied";
  else if (types.has("Approved")) status = "Approved";
  if (types.has("Failed")) status += ",Failed";
  if (textAt(of, "status", "certificate") !== "") status += ",Issued";
  return status;
}
