// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { ObjectReference } from "./core-v1.ts";

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

export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[];
  readonly forZones?: readonly ForZone[];
}

export interface EndpointPort {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface EndpointSlice {
  readonly apiVersion?: "discovery.k8s.io/v1";
  readonly kind?: "EndpointSlice";
  readonly metadata: NamespacedObjectMeta;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}

export interface EndpointSliceInput {
  readonly apiVersion?: "discovery.k8s.io/v1";
  readonly kind?: "EndpointSlice";
  readonly metadata: NamedMetaInput;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}

export interface ForNode {
  readonly name: string;
}

export interface ForZone {
  readonly name: string;
}

export const EndpointSlice: ResourceKind<EndpointSlice, EndpointSliceInput, "Namespaced"> = { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices", scope: "Namespaced" };
