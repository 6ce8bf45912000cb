import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { serviceCells } from "./columns.ts";
import { startKubernetesService } from "./kubernetes-service.ts";
import { service } from "./strategy.ts";

export const serviceKind = {
  group: "",
  kind: "Service",
  strategy: service,
  cells: cellsOf(serviceCells),
  controllers: {
    "kubernetes-service": startKubernetesService,
  },
} satisfies KindDeclaration;
