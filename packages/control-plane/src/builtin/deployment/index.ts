import type { KindDeclaration } from "../declaration.ts";
import { deploymentCells } from "./columns.ts";
import { deployment } from "./strategy.ts";

export const deploymentKind = {
  group: "apps",
  kind: "Deployment",
  strategy: deployment,
  cells: deploymentCells,
  controllers: {
    "deployment-controller": async () => (await import("./controller.ts")).startDeployments,
  },
} satisfies KindDeclaration;
