import { isObject, type JsonObject } from "../json.ts";
import { field } from "../schema/paths.ts";
import { objectAt, specOf, textAt, textsAt, versionsOf } from "./definition.ts";

/**
 * Fills in what the API server fills in when a CRD is written: names, conversion strategy, the
 * webhook's port.
 */
export function defaultCrd(crd: JsonObject): void {
  const spec = specOf(crd);
  const names = objectAt(spec, "names");
  if (names !== undefined) {
    const kind = textAt(names, "kind");
    if (textAt(names, "singular") === "" && kind !== "") names.singular = kind.toLowerCase();
    if (textAt(names, "listKind") === "" && kind !== "") names.listKind = `${kind}List`;
  }
  if (isObject(field(crd, "spec")) && (field(spec, "conversion") ?? null) === null) {
    spec.conversion = { strategy: "None" };
  }
  const webhook = objectAt(objectAt(spec, "conversion"), "webhook");
  const service = objectAt(objectAt(webhook, "clientConfig"), "service");
  if (service !== undefined && (field(service, "port") ?? null) === null) service.port = 443;
}

/** The status of a CRD that was just created, before its names are looked at. */
export function initialCrdStatus(crd: JsonObject): JsonObject {
  return {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: versionsOf(crd)
      .filter((version) => version.storage)
      .slice(0, 1)
      .map((version) => version.name),
  };
}

/** The stored versions after an update: those there were, and the storage version of now. */
export function storedVersionsAfter(crd: JsonObject, old: JsonObject): string[] {
  const stored = [...textsAt(objectAt(old, "status"), "storedVersions")];
  for (const version of versionsOf(crd)) {
    if (version.storage && !stored.includes(version.name)) stored.push(version.name);
  }
  return stored;
}
