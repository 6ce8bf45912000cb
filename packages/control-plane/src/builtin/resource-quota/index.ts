import type { KindDeclaration } from "../declaration.ts";
import { resourceQuotaCells } from "./columns.ts";
import { resourceQuota } from "./strategy.ts";

export const resourceQuotaKind = {
  group: "",
  kind: "ResourceQuota",
  strategy: resourceQuota,
  cells: resourceQuotaCells,
  controllers: {
    "resourcequota-controller": async () => (await import("./controller.ts")).startResourceQuotas,
  },
} satisfies KindDeclaration;
