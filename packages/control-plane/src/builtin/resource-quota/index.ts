import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { resourceQuotaCells } from "./columns.ts";
import { startResourceQuotas } from "./controller.ts";
import { resourceQuota } from "./strategy.ts";

export const resourceQuotaKind = {
  group: "",
  kind: "ResourceQuota",
  strategy: resourceQuota,
  cells: cellsOf(resourceQuotaCells),
  controllers: {
    "resourcequota-controller": startResourceQuotas,
  },
} satisfies KindDeclaration;
