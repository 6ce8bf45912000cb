// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface APIService {
  readonly apiVersion?: "apiregistration.k8s.io/v1";
  readonly kind?: "APIService";
  readonly metadata: ClusterObjectMeta;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
}

export interface APIServiceInput {
  readonly apiVersion?: "apiregistration.k8s.io/v1" | undefined;
  readonly kind?: "APIService" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: APIServiceSpecInput;
  readonly status?: APIServiceStatusInput | undefined;
}

export interface APIServiceCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface APIServiceConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface APIServiceSpec {
  readonly caBundle?: string;
  readonly group?: string;
  readonly groupPriorityMinimum: number;
  readonly insecureSkipTLSVerify?: boolean;
  readonly service?: ServiceReference;
  readonly version?: string;
  readonly versionPriority: number;
}

export interface APIServiceSpecInput {
  readonly caBundle?: string | undefined;
  readonly group?: string | undefined;
  readonly groupPriorityMinimum: number;
  readonly insecureSkipTLSVerify?: boolean | undefined;
  readonly service?: ServiceReferenceInput | undefined;
  readonly version?: string | undefined;
  readonly versionPriority: number;
}

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[];
}

export interface APIServiceStatusInput {
  readonly conditions?: readonly APIServiceConditionInput[] | undefined;
}

export interface ServiceReference {
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
}

export interface ServiceReferenceInput {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly port?: number | undefined;
}

export const APIService: ResourceKind<APIService, APIServiceInput, "Cluster"> = { group: "apiregistration.k8s.io", version: "v1", kind: "APIService", plural: "apiservices", scope: "Cluster" };
