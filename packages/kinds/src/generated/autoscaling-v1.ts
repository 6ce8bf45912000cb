// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";

export interface CrossVersionObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export interface HorizontalPodAutoscaler {
  readonly apiVersion?: "autoscaling/v1";
  readonly kind?: "HorizontalPodAutoscaler";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerInput {
  readonly apiVersion?: "autoscaling/v1";
  readonly kind?: "HorizontalPodAutoscaler";
  readonly metadata: NamedMetaInput;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerSpec {
  readonly maxReplicas: number;
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly targetCPUUtilizationPercentage?: number;
}

export interface HorizontalPodAutoscalerStatus {
  readonly currentCPUUtilizationPercentage?: number;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export const HorizontalPodAutoscaler: ResourceKind<HorizontalPodAutoscaler, HorizontalPodAutoscalerInput, "Namespaced"> = { group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", scope: "Namespaced" };
