import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { persistentVolumeCells } from "./columns.ts";
import { startPersistentVolumes } from "./controller.ts";
import { startVolumeProtection } from "./protection.ts";
import { persistentVolume } from "./strategy.ts";

export const persistentVolumeKind = {
  group: "",
  kind: "PersistentVolume",
  strategy: persistentVolume,
  cells: cellsOf(persistentVolumeCells),
  controllers: {
    "persistentvolume-binder-controller": startPersistentVolumes,
    "persistentvolume-protection-controller": startVolumeProtection,
  },
} satisfies KindDeclaration;
