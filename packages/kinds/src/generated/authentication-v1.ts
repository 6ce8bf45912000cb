// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";

export interface SelfSubjectReview {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "SelfSubjectReview";
  readonly metadata: ClusterObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewInput {
  readonly apiVersion?: "authentication.k8s.io/v1" | undefined;
  readonly kind?: "SelfSubjectReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly status?: SelfSubjectReviewStatusInput | undefined;
}

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo;
}

export interface SelfSubjectReviewStatusInput {
  readonly userInfo?: UserInfoInput | undefined;
}

export interface TokenReview {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "TokenReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}

export interface TokenReviewInput {
  readonly apiVersion?: "authentication.k8s.io/v1" | undefined;
  readonly kind?: "TokenReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: TokenReviewSpecInput;
  readonly status?: TokenReviewStatusInput | undefined;
}

export interface TokenReviewSpec {
  readonly audiences?: readonly string[];
  readonly token?: string;
}

export interface TokenReviewSpecInput {
  readonly audiences?: readonly string[] | undefined;
  readonly token?: string | undefined;
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[];
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly user?: UserInfo;
}

export interface TokenReviewStatusInput {
  readonly audiences?: readonly string[] | undefined;
  readonly authenticated?: boolean | undefined;
  readonly error?: string | undefined;
  readonly user?: UserInfoInput | undefined;
}

export interface UserInfo {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly username?: string;
}

export interface UserInfoInput {
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  readonly username?: string | undefined;
}

export const SelfSubjectReview: ResourceKind<SelfSubjectReview, SelfSubjectReviewInput, "Cluster"> = { group: "authentication.k8s.io", version: "v1", kind: "SelfSubjectReview", plural: "selfsubjectreviews", scope: "Cluster" };
export const TokenReview: ResourceKind<TokenReview, TokenReviewInput, "Cluster"> = { group: "authentication.k8s.io", version: "v1", kind: "TokenReview", plural: "tokenreviews", scope: "Cluster" };
