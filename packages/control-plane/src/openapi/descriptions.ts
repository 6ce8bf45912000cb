import { recordedDescriptions } from "@windlass/kinds/recorded";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { once } from "../memoised.ts";

const recorded = once(recordedDescriptions);

/** A schema of the package `meta.v1` with its descriptions. Other packages have none. */
export function withDescriptions(type: string, described: JsonObject): JsonObject {
  const words = type.startsWith("meta.v1.") ? recorded()[type.slice("meta.v1.".length)] : undefined;
  if (words === undefined) return described;
  const properties = Object.entries(isObject(described.properties) ? described.properties : {});
  return {
    ...(words.type === "" ? {} : { description: words.type }),
    ...described,
    ...(properties.length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            properties.map(([name, property]) => [name, withDescription(property, words.fields[name] ?? "")]),
          ),
        }),
  };
}

/** A reference has no siblings: its description stands beside an `allOf` of it. */
function withDescription(property: Json, description: string): Json {
  if (!isObject(property) || description === "") return property;
  return "$ref" in property ? { description, allOf: [property] } : { description, ...property };
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/** Descriptions of the fields that every object and every list has. */
export const identityDescriptions = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${conventions}#metadata`,
  listMetadata: `Standard list metadata. More info: ${conventions}#types-kinds`,
  items: (plural: string) => `List of ${plural}. More info: ${conventions}`,
} as const;

/** Descriptions of the same fields in an object inside another. */
export const embeddedDescriptions = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
  metadata: identityDescriptions.metadata,
} as const;
