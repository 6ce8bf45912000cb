import type { Json, JsonObject } from "../../json.ts";
import { at, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function volumeAttachmentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    text(of, "spec", "attacher"),
    text(of, "spec", "source", "persistentVolumeName"),
    text(of, "spec", "nodeName"),
    at(of, "status", "attached") === true,
    age(of, now),
  ];
}
