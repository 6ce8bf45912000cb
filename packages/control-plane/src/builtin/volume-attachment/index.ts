import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { volumeAttachmentCells } from "./columns.ts";
import { volumeAttachment } from "./strategy.ts";

export const volumeAttachmentKind = {
  group: "storage.k8s.io",
  kind: "VolumeAttachment",
  strategy: volumeAttachment,
  cells: cellsOf(volumeAttachmentCells),
} satisfies KindDeclaration;
