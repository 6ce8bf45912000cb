import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { flowSchemaCells, priorityLevelCells } from "./columns.ts";
import { flowSchema } from "./flow-schema.ts";
import { priorityLevel } from "./priority-level.ts";

export const flowSchemaKind = {
  group: "flowcontrol.apiserver.k8s.io",
  kind: "FlowSchema",
  strategy: flowSchema,
  cells: cellsOf(flowSchemaCells),
} satisfies KindDeclaration;

export const priorityLevelConfigurationKind = {
  group: "flowcontrol.apiserver.k8s.io",
  kind: "PriorityLevelConfiguration",
  strategy: priorityLevel,
  cells: cellsOf(priorityLevelCells),
} satisfies KindDeclaration;
