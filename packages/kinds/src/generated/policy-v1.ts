// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { Condition, ConditionInput, LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface PodDisruptionBudget {
  readonly apiVersion?: "policy/v1";
  readonly kind?: "PodDisruptionBudget";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetInput {
  readonly apiVersion?: "policy/v1" | undefined;
  readonly kind?: "PodDisruptionBudget" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: PodDisruptionBudgetSpecInput | undefined;
  readonly status?: PodDisruptionBudgetStatusInput | undefined;
}

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: number | string;
  readonly minAvailable?: number | string;
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
}

export interface PodDisruptionBudgetSpecInput {
  readonly maxUnavailable?: number | string | undefined;
  readonly minAvailable?: number | string | undefined;
  readonly selector?: LabelSelectorInput | undefined;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget" | undefined;
}

export interface PodDisruptionBudgetStatus {
  readonly conditions?: readonly Condition[];
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly observedGeneration?: number;
}

export interface PodDisruptionBudgetStatusInput {
  readonly conditions?: readonly ConditionInput[] | undefined;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptedPods?: Readonly<Record<string, string>> | undefined;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly observedGeneration?: number | undefined;
}

export const PodDisruptionBudget: ResourceKind<PodDisruptionBudget, PodDisruptionBudgetInput, "Namespaced"> = { group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", scope: "Namespaced" };
