// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";

export interface SelfSubjectReview {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "SelfSubjectReview";
  readonly metadata: ClusterObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewInput {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "SelfSubjectReview";
  readonly metadata?: ObjectMetaInput;
  readonly status?: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo;
}

export interface TokenReview {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "TokenReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}

export interface TokenReviewInput {
  readonly apiVersion?: "authentication.k8s.io/v1";
  readonly kind?: "TokenReview";
  readonly metadata?: ObjectMetaInput;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}

export interface TokenReviewSpec {
  readonly audiences?: readonly string[];
  readonly token?: string;
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[];
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly user?: UserInfo;
}

export interface UserInfo {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly username?: string;
}

export const SelfSubjectReview: ResourceKind<SelfSubjectReview, SelfSubjectReviewInput, "Cluster"> = { group: "authentication.k8s.io", version: "v1", kind: "SelfSubjectReview", plural: "selfsubjectreviews", scope: "Cluster" };
export const TokenReview: ResourceKind<TokenReview, TokenReviewInput, "Cluster"> = { group: "authentication.k8s.io", version: "v1", kind: "TokenReview", plural: "tokenreviews", scope: "Cluster" };
