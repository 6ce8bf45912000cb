import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { namespaceCells } from "./columns.ts";
import { startNamespaces } from "./controller.ts";
import { namespace } from "./strategy.ts";

export const namespaceKind = {
  group: "",
  kind: "Namespace",
  strategy: namespace,
  cells: cellsOf(namespaceCells),
  controllers: {
    "namespace-controller": startNamespaces,
  },
} satisfies KindDeclaration;
