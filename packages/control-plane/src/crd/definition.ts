import { isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";
import { readSchema } from "./schema-shape.ts";

// Reading a CustomResourceDefinition. What a client sent may have any shape, so nothing is taken
// for granted: an absent or misshapen part reads as empty, and it is validation's to complain.

export function textAt(object: JsonObject | undefined, name: string): string {
  const value = object === undefined ? undefined : field(object, name);
  return typeof value === "string" ? value : "";
}

export function objectAt(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object === undefined ? undefined : field(object, name);
  return value !== undefined && isObject(value) ? value : undefined;
}

export function listAt(object: JsonObject | undefined, name: string): Json[] {
  const value = object === undefined ? undefined : field(object, name);
  return Array.isArray(value) ? value : [];
}

export function objectsAt(object: JsonObject | undefined, name: string): JsonObject[] {
  return listAt(object, name).map((item) => (isObject(item) ? item : {}));
}

export function textsAt(object: JsonObject | undefined, name: string): string[] {
  return listAt(object, name).filter((item): item is string => typeof item === "string");
}

/** One entry of `spec.versions`. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly raw: JsonObject;
  readonly schema: Schema | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: JsonObject[];
  readonly selectableFields: JsonObject[];
}

export function specOf(crd: JsonObject): JsonObject {
  return objectAt(crd, "spec") ?? {};
}

export function versionsOf(crd: JsonObject): CrdVersion[] {
  return objectsAt(specOf(crd), "versions").map((raw) => ({
    name: textAt(raw, "name"),
    served: field(raw, "served") === true,
    storage: field(raw, "storage") === true,
    raw,
    schema: schemaOf(raw),
    subresources: objectAt(raw, "subresources"),
    columns: objectsAt(raw, "additionalPrinterColumns"),
    selectableFields: objectsAt(raw, "selectableFields"),
  }));
}

function schemaOf(version: JsonObject): Schema | undefined {
  const raw = objectAt(objectAt(version, "schema"), "openAPIV3Schema");
  return raw === undefined ? undefined : readSchema(raw);
}

/** A condition of a CRD's status, or undefined. */
export function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(objectAt(crd, "status"), "conditions").find((item) => textAt(item, "type") === type);
}

export function isConditionTrue(crd: JsonObject, type: string): boolean {
  return textAt(conditionOf(crd, type), "status") === "True";
}
