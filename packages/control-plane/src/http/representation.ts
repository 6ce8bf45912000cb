import type { JsonObject } from "../json.ts";
import type { Resource } from "../registry/resource.ts";
import type { Entry } from "../storage/store.ts";

/** `"kind":"Pod","apiVersion":"v1",`: what goes before the shared JSON of an entry. */
function typeMeta(resource: Resource): string {
  const { info } = resource;
  const apiVersion = info.group === "" ? info.version : `${info.group}/${info.version}`;
  return info.origin === "custom"
    ? `"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(info.kind)},`
    : `"kind":${JSON.stringify(info.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

/** An entry as the answer to a get, or as the object of a watch event. */
export function entryText(resource: Resource, entry: Entry): string {
  return `{${typeMeta(resource)}${entry.json.slice(1)}`;
}

/** An entry as an item of a list: built-in kinds leave out what the list itself says. */
export function itemText(resource: Resource, entry: Entry): string {
  return resource.info.origin === "custom" ? entryText(resource, entry) : entry.json;
}

/** An object that is in no entry (converted, or not stored), with its fields in the same order. */
export function objectText(resource: Resource, object: JsonObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return `{${typeMeta(resource)}${JSON.stringify(rest).slice(1)}`;
}

/** The `PartialObjectMetadata` of an object. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: object.metadata as JsonObject,
  };
}
