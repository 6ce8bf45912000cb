import type { KindDeclaration } from "../declaration.ts";
import { persistentVolumeCells } from "./columns.ts";
import { persistentVolume } from "./strategy.ts";

export const persistentVolumeKind = {
  group: "",
  kind: "PersistentVolume",
  strategy: persistentVolume,
  cells: persistentVolumeCells,
  controllers: {
    "persistentvolume-binder-controller": async () =>
      (await import("./controller.ts")).startPersistentVolumes,
    "persistentvolume-protection-controller": async () =>
      (await import("./protection.ts")).startVolumeProtection,
  },
} satisfies KindDeclaration;
