// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { ObjectReference, ObjectReferenceInput } from "./core-v1.ts";

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly hints?: EndpointHints;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
  readonly zone?: string;
}

export interface EndpointInput {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditionsInput | undefined;
  readonly deprecatedTopology?: Readonly<Record<string, string>> | undefined;
  readonly hints?: EndpointHintsInput | undefined;
  readonly hostname?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly targetRef?: ObjectReferenceInput | undefined;
  readonly zone?: string | undefined;
}

export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointConditionsInput {
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[];
  readonly forZones?: readonly ForZone[];
}

export interface EndpointHintsInput {
  readonly forNodes?: readonly ForNode[] | undefined;
  readonly forZones?: readonly ForZone[] | undefined;
}

export interface EndpointPort {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface EndpointPortInput {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly port?: number | undefined;
  readonly protocol?: "SCTP" | "TCP" | "UDP" | undefined;
}

export interface EndpointSlice {
  readonly apiVersion?: "discovery.k8s.io/v1";
  readonly kind?: "EndpointSlice";
  readonly metadata: NamespacedObjectMeta;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface EndpointSliceInput {
  readonly apiVersion?: "discovery.k8s.io/v1" | undefined;
  readonly kind?: "EndpointSlice" | undefined;
  readonly metadata: NamedMetaInput;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints: readonly EndpointInput[] | null;
  readonly ports?: readonly EndpointPortInput[] | null | undefined;
}

export interface ForNode {
  readonly name: string;
}

export interface ForZone {
  readonly name: string;
}

export const EndpointSlice: ResourceKind<EndpointSlice, EndpointSliceInput, "Namespaced"> = { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices", scope: "Namespaced" };
