import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { csiDriverCells } from "./columns.ts";
import { csiDriver } from "./strategy.ts";

export const csiDriverKind = {
  group: "storage.k8s.io",
  kind: "CSIDriver",
  strategy: csiDriver,
  cells: cellsOf(csiDriverCells),
} satisfies KindDeclaration;
