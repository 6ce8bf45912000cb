import { isObject, type Json, type JsonObject } from "../json.ts";
import { isDateTime } from "./formats.ts";
import { goQuote } from "./go-text.ts";
import { childPath, keyPath } from "./paths.ts";

/** How a field of `metadata` is shaped; what is not listed is unknown. */
type Shape =
  | "string"
  | "integer"
  | "boolean"
  | "time"
  | "any"
  | { readonly map: Shape }
  | { readonly list: Shape }
  | { readonly fields: { readonly [name: string]: Shape } };

const OBJECT_META: Shape = {
  fields: {
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "string",
    resourceVersion: "string",
    generation: "integer",
    creationTimestamp: "time",
    deletionTimestamp: "time",
    deletionGracePeriodSeconds: "integer",
    labels: { map: "string" },
    annotations: { map: "string" },
    ownerReferences: {
      list: {
        fields: {
          apiVersion: "string",
          kind: "string",
          name: "string",
          uid: "string",
          controller: "boolean",
          blockOwnerDeletion: "boolean",
        },
      },
    },
    finalizers: { list: "string" },
    managedFields: {
      list: {
        fields: {
          manager: "string",
          operation: "string",
          apiVersion: "string",
          time: "time",
          fieldsType: "string",
          fieldsV1: "any",
          subresource: "string",
        },
      },
    },
  },
};

/** Required or optional-by-presence fields, which survive a round trip even when they are empty. */
const KEPT_WHEN_EMPTY = new Set([
  "ObjectMeta.deletionGracePeriodSeconds",
  "ObjectMeta.ownerReferences.apiVersion",
  "ObjectMeta.ownerReferences.kind",
  "ObjectMeta.ownerReferences.name",
  "ObjectMeta.ownerReferences.uid",
  "ObjectMeta.ownerReferences.controller",
  "ObjectMeta.ownerReferences.blockOwnerDeletion",
  "ObjectMeta.managedFields.fieldsV1",
]);

/** A field of `metadata` whose value cannot be what it has to be. */
export interface MetadataFault {
  readonly path: string;
  /** The words of Go's decoder, as the API server passes them on. */
  readonly message: string;
}

export interface MetadataFindings {
  readonly unknown: string[];
  readonly fault?: MetadataFault;
}

/**
 * Brings `metadata` into the form in which the API server stores it: unknown fields dropped and
 * reported, empty ones left out. A field of the wrong type is reported and left as it is.
 */
export function normaliseMetadata(metadata: Json, path: string): MetadataFindings {
  const unknown: string[] = [];
  const fault = normalise(metadata, OBJECT_META, path, "ObjectMeta", unknown);
  return fault === undefined ? { unknown } : { unknown, fault };
}

function normalise(
  value: Json,
  shape: Shape,
  path: string,
  goPath: string,
  unknown: string[],
): MetadataFault | undefined {
  if (value === null || shape === "any") return undefined;
  const mismatch = (go: string): MetadataFault => {
    const where = goPath === "ObjectMeta" ? "value" : `struct field ${goFieldPath(goPath)}`;
    return { path, message: `json: cannot unmarshal ${jsonKind(value)} into Go ${where} of type ${go}` };
  };
  if (typeof shape === "string") {
    if (shape === "string") return typeof value === "string" ? undefined : mismatch("string");
    if (shape === "integer")
      return Number.isInteger(value) || typeof value === "bigint" ? undefined : mismatch("int64");
    if (shape === "boolean") return typeof value === "boolean" ? undefined : mismatch("bool");
    if (typeof value !== "string") return mismatch("string");
    return isDateTime(value) ? undefined : { path, message: timeFault(value) };
  }
  if ("list" in shape) {
    if (!Array.isArray(value)) return mismatch("[]string");
    for (const [index, item] of value.entries()) {
      // Go reads a null into a string as none at all.
      if (item === null && shape.list === "string") value[index] = "";
      const fault = normalise(item, shape.list, keyPath(path, index), goPath, unknown);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isObject(value)) return mismatch("map" in shape ? "map[string]string" : "v1.ObjectMeta");
  if ("map" in shape) {
    for (const key of Object.keys(value)) {
      if (value[key] === null && shape.map === "string") value[key] = "";
      const fault = normalise(value[key] as Json, shape.map, childPath(path, key), goPath, unknown);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  return normaliseFields(value, shape.fields, path, goPath, unknown);
}

function normaliseFields(
  object: JsonObject,
  fields: { readonly [name: string]: Shape },
  path: string,
  goPath: string,
  unknown: string[],
): MetadataFault | undefined {
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(fields, name)) {
      unknown.push(childPath(path, name));
      delete object[name];
      continue;
    }
    const inner = object[name] as Json;
    const at = childPath(path, name);
    const fault = normalise(inner, fields[name] as Shape, at, `${goPath}.${name}`, unknown);
    if (fault !== undefined) return fault;
    const kept = inner !== null && KEPT_WHEN_EMPTY.has(`${goPath}.${name}`);
    if (isEmpty(inner) && !kept) delete object[name];
  }
  return undefined;
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The field as Go's decoder names it: by the innermost struct, and the path from the outermost. */
function goFieldPath(path: string): string {
  if (path.startsWith("ObjectMeta.ownerReferences.")) return path.replace("ObjectMeta", "OwnerReference");
  if (path.startsWith("ObjectMeta.managedFields.")) return path.replace("ObjectMeta", "ManagedFieldsEntry");
  return path;
}

function timeFault(text: string): string {
  return `parsing time ${goQuote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${goQuote(text)} as "2006"`;
}

function jsonKind(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "object" ? "object" : typeof value;
}
