// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface PriorityClass {
  readonly apiVersion?: "scheduling.k8s.io/v1";
  readonly kind?: "PriorityClass";
  readonly metadata: ClusterObjectMeta;
  readonly description?: string;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly value: number;
}

export interface PriorityClassInput {
  readonly apiVersion?: "scheduling.k8s.io/v1" | undefined;
  readonly kind?: "PriorityClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly description?: string | undefined;
  readonly globalDefault?: boolean | undefined;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority" | undefined;
  readonly value: number;
}

export const PriorityClass: ResourceKind<PriorityClass, PriorityClassInput, "Cluster"> = { group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", plural: "priorityclasses", scope: "Cluster" };
