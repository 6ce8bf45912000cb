import type { Json, JsonObject } from "../json.ts";
import { textAt } from "../json-fields.ts";
import { age, name } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function volumeAttributesClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), textAt(of, "driverName"), age(of, now)];
}

export const volumeAttributesClassKind = {
  group: "storage.k8s.io",
  kind: "VolumeAttributesClass",
  strategy: { returnsDeleted: true },
  cells: volumeAttributesClassCells,
} satisfies KindDeclaration;
