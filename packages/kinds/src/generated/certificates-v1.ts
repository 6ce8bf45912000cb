// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface CertificateSigningRequest {
  readonly apiVersion?: "certificates.k8s.io/v1";
  readonly kind?: "CertificateSigningRequest";
  readonly metadata: ClusterObjectMeta;
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
}

export interface CertificateSigningRequestInput {
  readonly apiVersion?: "certificates.k8s.io/v1" | undefined;
  readonly kind?: "CertificateSigningRequest" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: CertificateSigningRequestSpecInput;
  readonly status?: CertificateSigningRequestStatusInput | undefined;
}

export interface CertificateSigningRequestCondition {
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface CertificateSigningRequestConditionInput {
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface CertificateSigningRequestSpec {
  readonly expirationSeconds?: number;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly request: string;
  readonly signerName: string;
  readonly uid?: string;
  readonly usages?: readonly ("any" | "cert sign" | "client auth" | "code signing" | "content commitment" | "crl sign" | "data encipherment" | "decipher only" | "digital signature" | "email protection" | "encipher only" | "ipsec end system" | "ipsec tunnel" | "ipsec user" | "key agreement" | "key encipherment" | "microsoft sgc" | "netscape sgc" | "ocsp signing" | "s/mime" | "server auth" | "signing" | "timestamping")[];
  readonly username?: string;
}

export interface CertificateSigningRequestSpecInput {
  readonly expirationSeconds?: number | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly request: string;
  readonly signerName: string;
  readonly uid?: string | undefined;
  readonly usages?: readonly ("any" | "cert sign" | "client auth" | "code signing" | "content commitment" | "crl sign" | "data encipherment" | "decipher only" | "digital signature" | "email protection" | "encipher only" | "ipsec end system" | "ipsec tunnel" | "ipsec user" | "key agreement" | "key encipherment" | "microsoft sgc" | "netscape sgc" | "ocsp signing" | "s/mime" | "server auth" | "signing" | "timestamping")[] | undefined;
  readonly username?: string | undefined;
}

export interface CertificateSigningRequestStatus {
  readonly certificate?: string;
  readonly conditions?: readonly CertificateSigningRequestCondition[];
}

export interface CertificateSigningRequestStatusInput {
  readonly certificate?: string | undefined;
  readonly conditions?: readonly CertificateSigningRequestConditionInput[] | undefined;
}

export const CertificateSigningRequest: ResourceKind<CertificateSigningRequest, CertificateSigningRequestInput, "Cluster"> = { group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest", plural: "certificatesigningrequests", scope: "Cluster" };
