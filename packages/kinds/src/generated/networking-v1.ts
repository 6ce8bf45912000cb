// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { TypedLocalObjectReference } from "./core-v1.ts";
import type { Condition, LabelSelector } from "./meta-v1.ts";

export interface HTTPIngressPath {
  readonly backend: IngressBackend;
  readonly path?: string;
  readonly pathType: "Exact" | "ImplementationSpecific" | "Prefix";
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}

export interface IPAddress {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IPAddress";
  readonly metadata: ClusterObjectMeta;
  readonly spec: IPAddressSpec;
}

export interface IPAddressInput {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IPAddress";
  readonly metadata: ClusterMetaInput;
  readonly spec: IPAddressSpec;
}

export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}

export interface IPBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

export interface Ingress {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "Ingress";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: IngressSpec;
  readonly status?: IngressStatus;
}

export interface IngressInput {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "Ingress";
  readonly metadata: NamedMetaInput;
  readonly spec?: IngressSpec;
  readonly status?: IngressStatus;
}

export interface IngressBackend {
  readonly resource?: TypedLocalObjectReference;
  readonly service?: IngressServiceBackend;
}

export interface IngressClass {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IngressClass";
  readonly metadata: ClusterObjectMeta;
  readonly spec: IngressClassSpec;
}

export interface IngressClassInput {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IngressClass";
  readonly metadata: ClusterMetaInput;
  readonly spec?: IngressClassSpec;
}

export interface IngressClassParametersReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly scope?: string;
}

export interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ports?: readonly IngressPortStatus[];
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
}

export interface IngressPortStatus {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface IngressRule {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
}

export interface IngressServiceBackend {
  readonly name: string;
  readonly port?: ServiceBackendPort;
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend;
  readonly ingressClassName?: string;
  readonly rules?: readonly IngressRule[];
  readonly tls?: readonly IngressTLS[];
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus;
}

export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

export interface NetworkPolicy {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "NetworkPolicy";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: NetworkPolicySpec;
}

export interface NetworkPolicyInput {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "NetworkPolicy";
  readonly metadata: NamedMetaInput;
  readonly spec?: NetworkPolicySpec;
}

export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly to?: readonly NetworkPolicyPeer[];
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[];
  readonly ports?: readonly NetworkPolicyPort[];
}

export interface NetworkPolicyPeer {
  readonly ipBlock?: IPBlock;
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
}

export interface NetworkPolicyPort {
  readonly endPort?: number;
  readonly port?: number | string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface NetworkPolicySpec {
  readonly egress?: readonly NetworkPolicyEgressRule[];
  readonly ingress?: readonly NetworkPolicyIngressRule[];
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly ("Egress" | "Ingress")[];
}

export interface ParentReference {
  readonly group?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly resource: string;
}

export interface ServiceBackendPort {
  readonly name?: string;
  readonly number?: number;
}

export interface ServiceCIDR {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "ServiceCIDR";
  readonly metadata: ClusterObjectMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}

export interface ServiceCIDRInput {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "ServiceCIDR";
  readonly metadata: ClusterMetaInput;
  readonly spec?: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[];
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[];
}

export const IPAddress: ResourceKind<IPAddress, IPAddressInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "IPAddress", plural: "ipaddresses", scope: "Cluster" };
export const Ingress: ResourceKind<Ingress, IngressInput, "Namespaced"> = { group: "networking.k8s.io", version: "v1", kind: "Ingress", plural: "ingresses", scope: "Namespaced" };
export const IngressClass: ResourceKind<IngressClass, IngressClassInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "IngressClass", plural: "ingressclasses", scope: "Cluster" };
export const NetworkPolicy: ResourceKind<NetworkPolicy, NetworkPolicyInput, "Namespaced"> = { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies", scope: "Namespaced" };
export const ServiceCIDR: ResourceKind<ServiceCIDR, ServiceCIDRInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "ServiceCIDR", plural: "servicecidrs", scope: "Cluster" };
