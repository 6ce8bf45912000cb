import type { KindDeclaration } from "../declaration.ts";
import { serviceCells } from "./columns.ts";
import { service } from "./strategy.ts";

export const serviceKind = {
  group: "",
  kind: "Service",
  strategy: service,
  cells: serviceCells,
  controllers: {
    "kubernetes-service": async () => (await import("./kubernetes-service.ts")).startKubernetesService,
  },
} satisfies KindDeclaration;
