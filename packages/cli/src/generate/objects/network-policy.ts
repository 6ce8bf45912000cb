import type { Rendering } from "../rendering.ts";
import type { Component, Operator } from "../resolve.ts";
import { labelsOf, selectorOf } from "./labels.ts";
import { containerPorts } from "./workload.ts";

/** Where API servers listen, as Service and as themselves. */
const apiServerPorts = [443, 6443];
const dnsPorts = [
  { port: 53, protocol: "TCP" },
  { port: 53, protocol: "UDP" },
];

/**
 * In: to the component's ports, from anywhere; nobody knows the address of the API server, the
 * kubelet or Prometheus. Out: to the API server, DNS, and what the component declares.
 */
export function networkPolicy(operator: Operator, component: Component, { namespace }: Rendering): object {
  const { name, egress } = component;
  const ingress = containerPorts(component).map(({ port, endPort, protocol }) => ({
    port,
    ...(endPort === undefined ? {} : { endPort }),
    protocol,
  }));
  const outward = [...apiServerPorts, ...(egress === "anywhere" ? [] : egress)].map((port) => ({
    port,
    protocol: "TCP",
  }));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf(operator, component) },
    spec: {
      podSelector: { matchLabels: selectorOf(component) },
      policyTypes: ["Ingress", "Egress"],
      ingress: ingress.length === 0 ? [] : [{ ports: ingress }],
      egress: egress === "anywhere" ? [{}] : [{ ports: [...outward, ...dnsPorts] }],
    },
  };
}
