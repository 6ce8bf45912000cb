// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";

export interface CrossVersionObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export interface CrossVersionObjectReferenceInput {
  readonly apiVersion?: string | undefined;
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
  readonly apiVersion?: "autoscaling/v1" | undefined;
  readonly kind?: "HorizontalPodAutoscaler" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: HorizontalPodAutoscalerSpecInput;
  readonly status?: HorizontalPodAutoscalerStatusInput | undefined;
}

export interface HorizontalPodAutoscalerSpec {
  readonly maxReplicas: number;
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly targetCPUUtilizationPercentage?: number;
}

export interface HorizontalPodAutoscalerSpecInput {
  readonly maxReplicas: number;
  readonly minReplicas?: number | undefined;
  readonly scaleTargetRef: CrossVersionObjectReferenceInput;
  readonly targetCPUUtilizationPercentage?: number | undefined;
}

export interface HorizontalPodAutoscalerStatus {
  readonly currentCPUUtilizationPercentage?: number;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export interface HorizontalPodAutoscalerStatusInput {
  readonly currentCPUUtilizationPercentage?: number | undefined;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

export const HorizontalPodAutoscaler: ResourceKind<HorizontalPodAutoscaler, HorizontalPodAutoscalerInput, "Namespaced"> = { group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", scope: "Namespaced" };
