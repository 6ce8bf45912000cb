// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";
import type { Toleration, TolerationInput } from "./core-v1.ts";

export interface Overhead {
  readonly podFixed?: Readonly<Record<string, string>>;
}

export interface OverheadInput {
  readonly podFixed?: Readonly<Record<string, number | string>> | undefined;
}

export interface RuntimeClass {
  readonly apiVersion?: "node.k8s.io/v1";
  readonly kind?: "RuntimeClass";
  readonly metadata: ClusterObjectMeta;
  readonly handler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}

export interface RuntimeClassInput {
  readonly apiVersion?: "node.k8s.io/v1" | undefined;
  readonly kind?: "RuntimeClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly handler: string;
  readonly overhead?: OverheadInput | undefined;
  readonly scheduling?: SchedulingInput | undefined;
}

export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

export interface SchedulingInput {
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly tolerations?: readonly TolerationInput[] | undefined;
}

export const RuntimeClass: ResourceKind<RuntimeClass, RuntimeClassInput, "Cluster"> = { group: "node.k8s.io", version: "v1", kind: "RuntimeClass", plural: "runtimeclasses", scope: "Cluster" };
