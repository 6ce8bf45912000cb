import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { podCells, podRowConditions, podTemplateCells } from "./columns.ts";
import { startPodGarbageCollector } from "./garbage-collector.ts";
import { pod, podTemplate } from "./strategy.ts";

export const podKind = {
  group: "",
  kind: "Pod",
  strategy: pod,
  cells: cellsOf(podCells),
  rowConditions: podRowConditions,
  controllers: {
    "pod-garbage-collector-controller": startPodGarbageCollector,
  },
} satisfies KindDeclaration;

export const podTemplateKind = {
  group: "",
  kind: "PodTemplate",
  strategy: podTemplate,
  cells: cellsOf(podTemplateCells),
} satisfies KindDeclaration;
