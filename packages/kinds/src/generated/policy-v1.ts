// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { Condition, LabelSelector } from "./meta-v1.ts";

export interface PodDisruptionBudget {
  readonly apiVersion?: "policy/v1";
  readonly kind?: "PodDisruptionBudget";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetInput {
  readonly apiVersion?: "policy/v1";
  readonly kind?: "PodDisruptionBudget";
  readonly metadata: NamedMetaInput;
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: number | string;
  readonly minAvailable?: number | string;
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
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

export const PodDisruptionBudget: ResourceKind<PodDisruptionBudget, PodDisruptionBudgetInput, "Namespaced"> = { group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", scope: "Namespaced" };
