import type { Json, JsonObject } from "../../json.ts";
import { textAt, valueAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function volumeAttachmentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    textAt(of, "spec", "attacher"),
    textAt(of, "spec", "source", "persistentVolumeName"),
    textAt(of, "spec", "nodeName"),
    valueAt(of, "status", "attached") === true,
    age(of, now),
  ];
}
