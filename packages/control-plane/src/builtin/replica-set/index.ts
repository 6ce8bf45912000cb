import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { replicaSetCells, replicationControllerCells } from "./columns.ts";
import { startReplicaSets, startReplicationControllers } from "./controller.ts";
import { replicaSet, replicationController } from "./strategy.ts";

export const replicaSetKind = {
  group: "apps",
  kind: "ReplicaSet",
  strategy: replicaSet,
  cells: cellsOf(replicaSetCells),
  controllers: {
    "replicaset-controller": startReplicaSets,
  },
} satisfies KindDeclaration;

export const replicationControllerKind = {
  group: "",
  kind: "ReplicationController",
  strategy: replicationController,
  cells: cellsOf(replicationControllerCells),
  controllers: {
    "replicationcontroller-controller": startReplicationControllers,
  },
} satisfies KindDeclaration;
