// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

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

export interface CrossVersionObjectReferenceInput {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

export interface ExternalMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ExternalMetricSourceInput {
  readonly metric: MetricIdentifierInput;
  readonly target: MetricTargetInput;
}

export interface ExternalMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface ExternalMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly metric: MetricIdentifierInput;
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
  readonly policies?: readonly HPAScalingPolicy[] | undefined;
  readonly selectPolicy?: string | undefined;
  readonly stabilizationWindowSeconds?: number | undefined;
  readonly tolerance?: number | string | undefined;
}

export interface HorizontalPodAutoscaler {
  readonly apiVersion?: "autoscaling/v2";
  readonly kind?: "HorizontalPodAutoscaler";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerInput {
  readonly apiVersion?: "autoscaling/v2" | undefined;
  readonly kind?: "HorizontalPodAutoscaler" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: HorizontalPodAutoscalerSpecInput;
  readonly status?: HorizontalPodAutoscalerStatusInput | undefined;
}

export interface HorizontalPodAutoscalerBehavior {
  readonly scaleDown?: HPAScalingRules;
  readonly scaleUp?: HPAScalingRules;
}

export interface HorizontalPodAutoscalerBehaviorInput {
  readonly scaleDown?: HPAScalingRulesInput | undefined;
  readonly scaleUp?: HPAScalingRulesInput | undefined;
}

export interface HorizontalPodAutoscalerCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface HorizontalPodAutoscalerConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
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
  readonly behavior?: HorizontalPodAutoscalerBehaviorInput | undefined;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpecInput[] | undefined;
  readonly minReplicas?: number | undefined;
  readonly scaleTargetRef: CrossVersionObjectReferenceInput;
}

export interface HorizontalPodAutoscalerStatus {
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[];
  readonly currentMetrics?: readonly MetricStatus[] | null;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export interface HorizontalPodAutoscalerStatusInput {
  readonly conditions?: readonly HorizontalPodAutoscalerConditionInput[] | undefined;
  readonly currentMetrics?: readonly MetricStatusInput[] | null | undefined;
  readonly currentReplicas?: number | undefined;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

export interface MetricIdentifierInput {
  readonly name: string;
  readonly selector?: LabelSelectorInput | undefined;
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
  readonly containerResource?: ContainerResourceMetricSourceInput | undefined;
  readonly external?: ExternalMetricSourceInput | undefined;
  readonly object?: ObjectMetricSourceInput | undefined;
  readonly pods?: PodsMetricSourceInput | undefined;
  readonly resource?: ResourceMetricSourceInput | undefined;
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
  readonly containerResource?: ContainerResourceMetricStatusInput | undefined;
  readonly external?: ExternalMetricStatusInput | undefined;
  readonly object?: ObjectMetricStatusInput | undefined;
  readonly pods?: PodsMetricStatusInput | undefined;
  readonly resource?: ResourceMetricStatusInput | undefined;
  readonly type: string;
}

export interface MetricTarget {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly type: string;
  readonly value?: string;
}

export interface MetricTargetInput {
  readonly averageUtilization?: number | undefined;
  readonly averageValue?: number | string | undefined;
  readonly type: string;
  readonly value?: number | string | undefined;
}

export interface MetricValueStatus {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly value?: string;
}

export interface MetricValueStatusInput {
  readonly averageUtilization?: number | undefined;
  readonly averageValue?: number | string | undefined;
  readonly value?: number | string | undefined;
}

export interface ObjectMetricSource {
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ObjectMetricSourceInput {
  readonly describedObject: CrossVersionObjectReferenceInput;
  readonly metric: MetricIdentifierInput;
  readonly target: MetricTargetInput;
}

export interface ObjectMetricStatus {
  readonly current: MetricValueStatus;
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
}

export interface ObjectMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly describedObject: CrossVersionObjectReferenceInput;
  readonly metric: MetricIdentifierInput;
}

export interface PodsMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface PodsMetricSourceInput {
  readonly metric: MetricIdentifierInput;
  readonly target: MetricTargetInput;
}

export interface PodsMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface PodsMetricStatusInput {
  readonly current: MetricValueStatusInput;
  readonly metric: MetricIdentifierInput;
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
