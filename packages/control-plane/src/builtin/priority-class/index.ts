import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { priorityClassCells } from "./columns.ts";
import { priorityClass } from "./strategy.ts";

export const priorityClassKind = {
  group: "scheduling.k8s.io",
  kind: "PriorityClass",
  strategy: priorityClass,
  cells: cellsOf(priorityClassCells),
} satisfies KindDeclaration;
