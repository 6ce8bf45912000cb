import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { daemonSetCells } from "./columns.ts";
import { startDaemonSets } from "./controller.ts";
import { daemonSet } from "./strategy.ts";

export const daemonSetKind = {
  group: "apps",
  kind: "DaemonSet",
  strategy: daemonSet,
  cells: cellsOf(daemonSetCells),
  controllers: {
    "daemonset-controller": startDaemonSets,
  },
} satisfies KindDeclaration;
