// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface APIService {
  readonly apiVersion?: "apiregistration.k8s.io/v1";
  readonly kind?: "APIService";
  readonly metadata: ClusterObjectMeta;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
}

export interface APIServiceInput {
  readonly apiVersion?: "apiregistration.k8s.io/v1";
  readonly kind?: "APIService";
  readonly metadata: ClusterMetaInput;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
}

export interface APIServiceCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
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

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[];
}

export interface ServiceReference {
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
}

export const APIService: ResourceKind<APIService, APIServiceInput, "Cluster"> = { group: "apiregistration.k8s.io", version: "v1", kind: "APIService", plural: "apiservices", scope: "Cluster" };
