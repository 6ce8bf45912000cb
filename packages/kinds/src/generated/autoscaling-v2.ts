// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { LabelSelector } from "./meta-v1.ts";

export interface ContainerResourceMetricSource {
  readonly container: string;
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ContainerResourceMetricSourceInput {
  readonly container: string;
  readonly name: string;
  readonly target: MetricTargetInput;
}

export interface ContainerResourceMetricStatus {
  readonly container: string;
  readonly current: MetricValueStatus;
  readonly name: string;
}

export interface ContainerResourceMetricStatusInput {
  readonly container: string;
  readonly current: MetricValueStatusInput;
  readonly name: string;
}

export interface CrossVersionObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export interface ExternalMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ExternalMetricSourceInput {
  readonly metric: MetricIdentifier;
  readonly target: MetricTargetInput;
}

export interface ExternalMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface ExternalMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly metric: MetricIdentifier;
}

export interface HPAScalingPolicy {
  readonly periodSeconds: number;
  readonly type: string;
  readonly value: number;
}

export interface HPAScalingRules {
  readonly policies?: readonly HPAScalingPolicy[];
  readonly selectPolicy?: string;
  readonly stabilizationWindowSeconds?: number;
  readonly tolerance?: string;
}

export interface HPAScalingRulesInput {
  readonly policies?: readonly HPAScalingPolicy[];
  readonly selectPolicy?: string;
  readonly stabilizationWindowSeconds?: number;
  readonly tolerance?: number | string;
}

export interface HorizontalPodAutoscaler {
  readonly apiVersion?: "autoscaling/v2";
  readonly kind?: "HorizontalPodAutoscaler";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerInput {
  readonly apiVersion?: "autoscaling/v2";
  readonly kind?: "HorizontalPodAutoscaler";
  readonly metadata: NamedMetaInput;
  readonly spec: HorizontalPodAutoscalerSpecInput;
  readonly status?: HorizontalPodAutoscalerStatusInput;
}

export interface HorizontalPodAutoscalerBehavior {
  readonly scaleDown?: HPAScalingRules;
  readonly scaleUp?: HPAScalingRules;
}

export interface HorizontalPodAutoscalerBehaviorInput {
  readonly scaleDown?: HPAScalingRulesInput;
  readonly scaleUp?: HPAScalingRulesInput;
}

export interface HorizontalPodAutoscalerCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface HorizontalPodAutoscalerSpec {
  readonly behavior?: HorizontalPodAutoscalerBehavior;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[];
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
}

export interface HorizontalPodAutoscalerSpecInput {
  readonly behavior?: HorizontalPodAutoscalerBehaviorInput;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpecInput[];
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
}

export interface HorizontalPodAutoscalerStatus {
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[];
  readonly currentMetrics?: readonly MetricStatus[];
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export interface HorizontalPodAutoscalerStatusInput {
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[];
  readonly currentMetrics?: readonly MetricStatusInput[];
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

export interface MetricSpec {
  readonly containerResource?: ContainerResourceMetricSource;
  readonly external?: ExternalMetricSource;
  readonly object?: ObjectMetricSource;
  readonly pods?: PodsMetricSource;
  readonly resource?: ResourceMetricSource;
  readonly type: string;
}

export interface MetricSpecInput {
  readonly containerResource?: ContainerResourceMetricSourceInput;
  readonly external?: ExternalMetricSourceInput;
  readonly object?: ObjectMetricSourceInput;
  readonly pods?: PodsMetricSourceInput;
  readonly resource?: ResourceMetricSourceInput;
  readonly type: string;
}

export interface MetricStatus {
  readonly containerResource?: ContainerResourceMetricStatus;
  readonly external?: ExternalMetricStatus;
  readonly object?: ObjectMetricStatus;
  readonly pods?: PodsMetricStatus;
  readonly resource?: ResourceMetricStatus;
  readonly type: string;
}

export interface MetricStatusInput {
  readonly containerResource?: ContainerResourceMetricStatusInput;
  readonly external?: ExternalMetricStatusInput;
  readonly object?: ObjectMetricStatusInput;
  readonly pods?: PodsMetricStatusInput;
  readonly resource?: ResourceMetricStatusInput;
  readonly type: string;
}

export interface MetricTarget {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly type: string;
  readonly value?: string;
}

export interface MetricTargetInput {
  readonly averageUtilization?: number;
  readonly averageValue?: number | string;
  readonly type: string;
  readonly value?: number | string;
}

export interface MetricValueStatus {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly value?: string;
}

export interface MetricValueStatusInput {
  readonly averageUtilization?: number;
  readonly averageValue?: number | string;
  readonly value?: number | string;
}

export interface ObjectMetricSource {
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ObjectMetricSourceInput {
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
  readonly target: MetricTargetInput;
}

export interface ObjectMetricStatus {
  readonly current: MetricValueStatus;
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
}

export interface ObjectMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
}

export interface PodsMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface PodsMetricSourceInput {
  readonly metric: MetricIdentifier;
  readonly target: MetricTargetInput;
}

export interface PodsMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface PodsMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly metric: MetricIdentifier;
}

export interface ResourceMetricSource {
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ResourceMetricSourceInput {
  readonly name: string;
  readonly target: MetricTargetInput;
}

export interface ResourceMetricStatus {
  readonly current: MetricValueStatus;
  readonly name: string;
}

export interface ResourceMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly name: string;
}

export const HorizontalPodAutoscaler: ResourceKind<HorizontalPodAutoscaler, HorizontalPodAutoscalerInput, "Namespaced"> = { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", scope: "Namespaced" };
