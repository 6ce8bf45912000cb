import type { KindDeclaration } from "../declaration.ts";
import { horizontalPodAutoscalerCells } from "./columns.ts";
import { startHorizontalPodAutoscalers } from "./controller.ts";
import { horizontalPodAutoscaler, horizontalPodAutoscalerV1 } from "./strategy.ts";
import { fromStored, toStored } from "./versions.ts";

export const horizontalPodAutoscalerKind = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  strategy: horizontalPodAutoscaler,
  cells: horizontalPodAutoscalerCells,
  versions: {
    v1: {
      strategy: horizontalPodAutoscalerV1,
      storedAs: {
        bucket: "horizontalpodautoscalers.autoscaling",
        stored: { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" },
        fromStorage: fromStored,
        toStorage: toStored,
      },
    },
  },
  controllers: {
    "horizontal-pod-autoscaler-controller": startHorizontalPodAutoscalers,
  },
} satisfies KindDeclaration;
