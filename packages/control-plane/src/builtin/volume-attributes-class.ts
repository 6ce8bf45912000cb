import type { Json, JsonObject } from "../json.ts";
import { text } from "../table/fields.ts";
import { age, name } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function volumeAttributesClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "driverName"), age(of, now)];
}

export const volumeAttributesClassKind = {
  group: "storage.k8s.io",
  kind: "VolumeAttributesClass",
  strategy: { returnsDeleted: true },
  cells: volumeAttributesClassCells,
} satisfies KindDeclaration;
