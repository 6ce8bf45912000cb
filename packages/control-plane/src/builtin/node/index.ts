import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { nodeCells } from "./columns.ts";
import { node } from "./strategy.ts";

export const nodeKind = {
  group: "",
  kind: "Node",
  strategy: node,
  cells: cellsOf(nodeCells),
} satisfies KindDeclaration;
