import type { Json, JsonObject } from "../json.ts";
import { textAt } from "../json-fields.ts";
import { age, name, nameAndAge } from "../table/metadata-cells.ts";
import type { KindDeclaration } from "./declaration.ts";

function resourceSliceCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    textAt(of, "spec", "nodeName"),
    textAt(of, "spec", "driver"),
    textAt(of, "spec", "pool", "name"),
    age(of, now),
  ];
}

export const resourceSliceKind = {
  group: "resource.k8s.io",
  kind: "ResourceSlice",
  strategy: { returnsDeleted: true },
  cells: resourceSliceCells,
} satisfies KindDeclaration;

export const deviceClassKind = {
  group: "resource.k8s.io",
  kind: "DeviceClass",
  strategy: { returnsDeleted: true },
  cells: nameAndAge,
} satisfies KindDeclaration;
