import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { ingressCells, ingressClassCells } from "./columns.ts";
import { ingress, ingressClass } from "./strategy.ts";

export const ingressKind = {
  group: "networking.k8s.io",
  kind: "Ingress",
  strategy: ingress,
  cells: cellsOf(ingressCells),
} satisfies KindDeclaration;

export const ingressClassKind = {
  group: "networking.k8s.io",
  kind: "IngressClass",
  strategy: ingressClass,
  cells: cellsOf(ingressClassCells),
} satisfies KindDeclaration;
