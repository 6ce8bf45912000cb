import type { KindDeclaration } from "../declaration.ts";
import { daemonSetCells } from "./columns.ts";
import { daemonSet } from "./strategy.ts";

export const daemonSetKind = {
  group: "apps",
  kind: "DaemonSet",
  strategy: daemonSet,
  cells: daemonSetCells,
  controllers: {
    "daemonset-controller": async () => (await import("./controller.ts")).startDaemonSets,
  },
} satisfies KindDeclaration;
