import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { statefulSetCells } from "./columns.ts";
import { startStatefulSets } from "./controller.ts";
import { statefulSet } from "./strategy.ts";

export const statefulSetKind = {
  group: "apps",
  kind: "StatefulSet",
  strategy: statefulSet,
  cells: cellsOf(statefulSetCells),
  controllers: {
    "statefulset-controller": startStatefulSets,
  },
} satisfies KindDeclaration;
