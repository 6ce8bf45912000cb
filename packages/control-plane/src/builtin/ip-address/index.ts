import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { ipAddressCells } from "./columns.ts";
import { ipAddress } from "./strategy.ts";

export const ipAddressKind = {
  group: "networking.k8s.io",
  kind: "IPAddress",
  strategy: ipAddress,
  cells: cellsOf(ipAddressCells),
} satisfies KindDeclaration;
