// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";

export interface Lease {
  readonly apiVersion?: "coordination.k8s.io/v1";
  readonly kind?: "Lease";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: LeaseSpec;
}

export interface LeaseInput {
  readonly apiVersion?: "coordination.k8s.io/v1" | undefined;
  readonly kind?: "Lease" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: LeaseSpecInput | undefined;
}

export interface LeaseSpec {
  readonly acquireTime?: string;
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly renewTime?: string;
  readonly strategy?: string;
}

export interface LeaseSpecInput {
  readonly acquireTime?: string | undefined;
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly leaseTransitions?: number | undefined;
  readonly preferredHolder?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly strategy?: string | undefined;
}

export const Lease: ResourceKind<Lease, LeaseInput, "Namespaced"> = { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", scope: "Namespaced" };
