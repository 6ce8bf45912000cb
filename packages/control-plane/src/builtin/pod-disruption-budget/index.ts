import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { podDisruptionBudgetCells } from "./columns.ts";
import { startDisruption } from "./controller.ts";
import { podDisruptionBudget } from "./strategy.ts";

export const podDisruptionBudgetKind = {
  group: "policy",
  kind: "PodDisruptionBudget",
  strategy: podDisruptionBudget,
  cells: cellsOf(podDisruptionBudgetCells),
  controllers: {
    "disruption-controller": startDisruption,
  },
} satisfies KindDeclaration;
