import type { VolumeAttachment } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { isTrueAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function volumeAttachmentCells(of: VolumeAttachment, now: number): Json[] {
  return [
    name(of),
    textAt(of, "spec", "attacher"),
    textAt(of, "spec", "source", "persistentVolumeName"),
    textAt(of, "spec", "nodeName"),
    isTrueAt(of, "status", "attached"),
    age(of, now),
  ];
}
