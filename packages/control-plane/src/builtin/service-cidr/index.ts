import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { serviceCidrCells } from "./columns.ts";
import { serviceCidr } from "./strategy.ts";

export const serviceCidrKind = {
  group: "networking.k8s.io",
  kind: "ServiceCIDR",
  strategy: serviceCidr,
  cells: cellsOf(serviceCidrCells),
} satisfies KindDeclaration;
