import type { KindDeclaration } from "../declaration.ts";
import { persistentVolumeClaimCells } from "./columns.ts";
import { persistentVolumeClaim } from "./strategy.ts";

export const persistentVolumeClaimKind = {
  group: "",
  kind: "PersistentVolumeClaim",
  strategy: persistentVolumeClaim,
  cells: persistentVolumeClaimCells,
  controllers: {
    "persistentvolumeclaim-protection-controller": async () =>
      (await import("../persistent-volume/protection.ts")).startClaimProtection,
  },
} satisfies KindDeclaration;
