import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { startClaimProtection } from "../persistent-volume/protection.ts";
import { persistentVolumeClaimCells } from "./columns.ts";
import { persistentVolumeClaim } from "./strategy.ts";

export const persistentVolumeClaimKind = {
  group: "",
  kind: "PersistentVolumeClaim",
  strategy: persistentVolumeClaim,
  cells: cellsOf(persistentVolumeClaimCells),
  controllers: {
    "persistentvolumeclaim-protection-controller": startClaimProtection,
  },
} satisfies KindDeclaration;
