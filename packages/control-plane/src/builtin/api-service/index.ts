import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { apiServiceCells } from "./columns.ts";
import { apiService } from "./strategy.ts";

export const apiServiceKind = {
  group: "apiregistration.k8s.io",
  kind: "APIService",
  strategy: apiService,
  cells: cellsOf(apiServiceCells),
} satisfies KindDeclaration;
