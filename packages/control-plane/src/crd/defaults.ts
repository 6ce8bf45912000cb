import { isObject, type JsonObject } from "../json.ts";
import { field, presentObjectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import { versionsOf } from "./definition.ts";

/**
 * Fills in what the API server fills in when a CRD is written: names, conversion strategy, the
 * webhook's port, stored versions where there are none.
 */
export function defaultCrd(crd: JsonObject): void {
  const spec = specOf(crd);
  const names = presentObjectAt(spec, "names");
  if (names !== undefined) {
    const kind = textAt(names, "kind");
    if (textAt(names, "singular") === "" && kind !== "") names.singular = kind.toLowerCase();
    if (textAt(names, "listKind") === "" && kind !== "") names.listKind = `${kind}List`;
  }
  if (isObject(field(crd, "spec")) && (field(spec, "conversion") ?? null) === null) {
    spec.conversion = { strategy: "None" };
  }
  const status = presentObjectAt(crd, "status");
  if (status !== undefined && textsAt(status, "storedVersions").length === 0)
    status.storedVersions = storageVersionOf(crd);
  const webhook = presentObjectAt(presentObjectAt(spec, "conversion"), "webhook");
  const service = presentObjectAt(presentObjectAt(webhook, "clientConfig"), "service");
  if (service !== undefined && (field(service, "port") ?? null) === null) service.port = 443;
}

/** The status of a CRD that was just created, before its names are checked. */
export function initialCrdStatus(crd: JsonObject): JsonObject {
  return {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: storageVersionOf(crd),
  };
}

function storageVersionOf(crd: JsonObject): string[] {
  const found = versionsOf(crd).find(({ storage }) => storage);
  return found === undefined ? [] : [found.name];
}

/** The stored versions after an update: those there were, and the storage version of now. */
export function storedVersionsAfter(crd: JsonObject, old: JsonObject): string[] {
  const stored = [...textsAt(presentObjectAt(old, "status"), "storedVersions")];
  for (const version of versionsOf(crd)) {
    if (version.storage && !stored.includes(version.name)) stored.push(version.name);
  }
  return stored;
}
