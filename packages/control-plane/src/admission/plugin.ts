import type { JsonObject } from "../json.ts";
import { metadataOf, textAt } from "../json-fields.ts";
import type { AdmissionRequest } from "../registry/admission.ts";
import { forbidden, type StatusError } from "../status.ts";

/** The object of a request to make something of a kind; undefined for all other requests. */
export function creationOf(request: AdmissionRequest, group: string, plural: string): JsonObject | undefined {
  return request.operation === "CREATE" ? writeOf(request, group, plural) : undefined;
}

/** The object of a create or update at a kind's main endpoint; undefined for all other requests. */
export function writeOf(request: AdmissionRequest, group: string, plural: string): JsonObject | undefined {
  const { info } = request.resource;
  if (info.plural !== plural || info.group !== group || request.subresource !== undefined) return undefined;
  return request.object;
}

/** A 403 about the object of a request. What is to get a generated name is called by its prefix. */
export function refuse(request: AdmissionRequest, why: string): StatusError {
  const { info } = request.resource;
  const metadata = request.object ? metadataOf(request.object) : {};
  const name = request.name || textAt(metadata, "name") || textAt(metadata, "generateName") || "Unknown";
  return forbidden({ group: info.group, resource: info.plural }, name, why);
}

/** The one of several complaints, or all of them in brackets. */
export function aggregate(complaints: readonly string[]): string {
  return complaints.length === 1 ? (complaints[0] as string) : `[${complaints.join(", ")}]`;
}
