import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { deploymentCells } from "./columns.ts";
import { startDeployments } from "./controller.ts";
import { deployment } from "./strategy.ts";

export const deploymentKind = {
  group: "apps",
  kind: "Deployment",
  strategy: deployment,
  cells: cellsOf(deploymentCells),
  controllers: {
    "deployment-controller": startDeployments,
  },
} satisfies KindDeclaration;
