import type { Json, JsonObject } from "../json.ts";
import { listAt } from "../json-fields.ts";
import { age, name } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function csiNodeCells(of: JsonObject, now: number): Json[] {
  return [name(of), listAt(of, "spec", "drivers").length, age(of, now)];
}

export const csiNodeKind = {
  group: "storage.k8s.io",
  kind: "CSINode",
  strategy: { unconditionalUpdate: false, returnsDeleted: true },
  cells: csiNodeCells,
} satisfies KindDeclaration;

export const csiStorageCapacityKind = {
  group: "storage.k8s.io",
  kind: "CSIStorageCapacity",
  strategy: { unconditionalUpdate: false, returnsDeleted: true },
} satisfies KindDeclaration;
