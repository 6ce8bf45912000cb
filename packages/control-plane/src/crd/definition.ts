import type { JsonObject } from "../json.ts";
import { field, objectsAt, presentObjectAt, specOf, textAt } from "../json-fields.ts";
import type { Schema } from "../schema/schema.ts";
import { readSchema } from "./schema-shape.ts";

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

export function versionsOf(crd: JsonObject): CrdVersion[] {
  return objectsAt(specOf(crd), "versions").map((raw) => ({
    name: textAt(raw, "name"),
    served: field(raw, "served") === true,
    storage: field(raw, "storage") === true,
    raw,
    schema: schemaOf(raw),
    subresources: presentObjectAt(raw, "subresources"),
    columns: objectsAt(raw, "additionalPrinterColumns"),
    selectableFields: objectsAt(raw, "selectableFields"),
  }));
}

function schemaOf(version: JsonObject): Schema | undefined {
  const raw = presentObjectAt(presentObjectAt(version, "schema"), "openAPIV3Schema");
  return raw === undefined ? undefined : readSchema(raw);
}

/** A condition of a CRD's status, or undefined. */
export function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(presentObjectAt(crd, "status"), "conditions").find(
    (item) => textAt(item, "type") === type,
  );
}

export function isConditionTrue(crd: JsonObject, type: string): boolean {
  return textAt(conditionOf(crd, type), "status") === "True";
}
