// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { TypedLocalObjectReference, TypedLocalObjectReferenceInput } from "./core-v1.ts";
import type { Condition, ConditionInput, LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface HTTPIngressPath {
  readonly backend: IngressBackend;
  readonly path?: string;
  readonly pathType: "Exact" | "ImplementationSpecific" | "Prefix";
}

export interface HTTPIngressPathInput {
  readonly backend: IngressBackendInput;
  readonly path?: string | undefined;
  readonly pathType: "Exact" | "ImplementationSpecific" | "Prefix";
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}

export interface HTTPIngressRuleValueInput {
  readonly paths: readonly HTTPIngressPathInput[];
}

export interface IPAddress {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IPAddress";
  readonly metadata: ClusterObjectMeta;
  readonly spec: IPAddressSpec;
}

export interface IPAddressInput {
  readonly apiVersion?: "networking.k8s.io/v1" | undefined;
  readonly kind?: "IPAddress" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: IPAddressSpecInput;
}

export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}

export interface IPAddressSpecInput {
  readonly parentRef: ParentReferenceInput;
}

export interface IPBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

export interface IPBlockInput {
  readonly cidr: string;
  readonly except?: readonly string[] | undefined;
}

export interface Ingress {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "Ingress";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: IngressSpec;
  readonly status?: IngressStatus;
}

export interface IngressInput {
  readonly apiVersion?: "networking.k8s.io/v1" | undefined;
  readonly kind?: "Ingress" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: IngressSpecInput | undefined;
  readonly status?: IngressStatusInput | undefined;
}

export interface IngressBackend {
  readonly resource?: TypedLocalObjectReference;
  readonly service?: IngressServiceBackend;
}

export interface IngressBackendInput {
  readonly resource?: TypedLocalObjectReferenceInput | undefined;
  readonly service?: IngressServiceBackendInput | undefined;
}

export interface IngressClass {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "IngressClass";
  readonly metadata: ClusterObjectMeta;
  readonly spec: IngressClassSpec;
}

export interface IngressClassInput {
  readonly apiVersion?: "networking.k8s.io/v1" | undefined;
  readonly kind?: "IngressClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: IngressClassSpecInput | undefined;
}

export interface IngressClassParametersReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly scope?: string;
}

export interface IngressClassParametersReferenceInput {
  readonly apiGroup?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly scope?: string | undefined;
}

export interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
}

export interface IngressClassSpecInput {
  readonly controller?: string | undefined;
  readonly parameters?: IngressClassParametersReferenceInput | undefined;
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ports?: readonly IngressPortStatus[];
}

export interface IngressLoadBalancerIngressInput {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
  readonly ports?: readonly IngressPortStatusInput[] | undefined;
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
}

export interface IngressLoadBalancerStatusInput {
  readonly ingress?: readonly IngressLoadBalancerIngressInput[] | undefined;
}

export interface IngressPortStatus {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface IngressPortStatusInput {
  readonly error?: string | undefined;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface IngressRule {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
}

export interface IngressRuleInput {
  readonly host?: string | undefined;
  readonly http?: HTTPIngressRuleValueInput | undefined;
}

export interface IngressServiceBackend {
  readonly name: string;
  readonly port?: ServiceBackendPort;
}

export interface IngressServiceBackendInput {
  readonly name: string;
  readonly port?: ServiceBackendPortInput | undefined;
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend;
  readonly ingressClassName?: string;
  readonly rules?: readonly IngressRule[];
  readonly tls?: readonly IngressTLS[];
}

export interface IngressSpecInput {
  readonly defaultBackend?: IngressBackendInput | undefined;
  readonly ingressClassName?: string | undefined;
  readonly rules?: readonly IngressRuleInput[] | undefined;
  readonly tls?: readonly IngressTLSInput[] | undefined;
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus;
}

export interface IngressStatusInput {
  readonly loadBalancer?: IngressLoadBalancerStatusInput | undefined;
}

export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

export interface IngressTLSInput {
  readonly hosts?: readonly string[] | undefined;
  readonly secretName?: string | undefined;
}

export interface NetworkPolicy {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "NetworkPolicy";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: NetworkPolicySpec;
}

export interface NetworkPolicyInput {
  readonly apiVersion?: "networking.k8s.io/v1" | undefined;
  readonly kind?: "NetworkPolicy" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: NetworkPolicySpecInput | undefined;
}

export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly to?: readonly NetworkPolicyPeer[];
}

export interface NetworkPolicyEgressRuleInput {
  readonly ports?: readonly NetworkPolicyPortInput[] | undefined;
  readonly to?: readonly NetworkPolicyPeerInput[] | undefined;
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[];
  readonly ports?: readonly NetworkPolicyPort[];
}

export interface NetworkPolicyIngressRuleInput {
  readonly from?: readonly NetworkPolicyPeerInput[] | undefined;
  readonly ports?: readonly NetworkPolicyPortInput[] | undefined;
}

export interface NetworkPolicyPeer {
  readonly ipBlock?: IPBlock;
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
}

export interface NetworkPolicyPeerInput {
  readonly ipBlock?: IPBlockInput | undefined;
  readonly namespaceSelector?: LabelSelectorInput | undefined;
  readonly podSelector?: LabelSelectorInput | undefined;
}

export interface NetworkPolicyPort {
  readonly endPort?: number;
  readonly port?: number | string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface NetworkPolicyPortInput {
  readonly endPort?: number | undefined;
  readonly port?: number | string | undefined;
  readonly protocol?: "SCTP" | "TCP" | "UDP" | undefined;
}

export interface NetworkPolicySpec {
  readonly egress?: readonly NetworkPolicyEgressRule[];
  readonly ingress?: readonly NetworkPolicyIngressRule[];
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly ("Egress" | "Ingress")[];
}

export interface NetworkPolicySpecInput {
  readonly egress?: readonly NetworkPolicyEgressRuleInput[] | undefined;
  readonly ingress?: readonly NetworkPolicyIngressRuleInput[] | undefined;
  readonly podSelector?: LabelSelectorInput | undefined;
  readonly policyTypes?: readonly ("Egress" | "Ingress")[] | undefined;
}

export interface ParentReference {
  readonly group?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly resource: string;
}

export interface ParentReferenceInput {
  readonly group?: string | undefined;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly resource: string;
}

export interface ServiceBackendPort {
  readonly name?: string;
  readonly number?: number;
}

export interface ServiceBackendPortInput {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

export interface ServiceCIDR {
  readonly apiVersion?: "networking.k8s.io/v1";
  readonly kind?: "ServiceCIDR";
  readonly metadata: ClusterObjectMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}

export interface ServiceCIDRInput {
  readonly apiVersion?: "networking.k8s.io/v1" | undefined;
  readonly kind?: "ServiceCIDR" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: ServiceCIDRSpecInput | undefined;
  readonly status?: ServiceCIDRStatusInput | undefined;
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[];
}

export interface ServiceCIDRSpecInput {
  readonly cidrs?: readonly string[] | undefined;
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[];
}

export interface ServiceCIDRStatusInput {
  readonly conditions?: readonly ConditionInput[] | undefined;
}

export const IPAddress: ResourceKind<IPAddress, IPAddressInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "IPAddress", plural: "ipaddresses", scope: "Cluster" };
export const Ingress: ResourceKind<Ingress, IngressInput, "Namespaced"> = { group: "networking.k8s.io", version: "v1", kind: "Ingress", plural: "ingresses", scope: "Namespaced" };
export const IngressClass: ResourceKind<IngressClass, IngressClassInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "IngressClass", plural: "ingressclasses", scope: "Cluster" };
export const NetworkPolicy: ResourceKind<NetworkPolicy, NetworkPolicyInput, "Namespaced"> = { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies", scope: "Namespaced" };
export const ServiceCIDR: ResourceKind<ServiceCIDR, ServiceCIDRInput, "Cluster"> = { group: "networking.k8s.io", version: "v1", kind: "ServiceCIDR", plural: "servicecidrs", scope: "Cluster" };
