import { child } from "@windlass/runtime";
import { NetworkPolicy } from "@windlass/runtime/kinds";
import { managedByLabel } from "../credentials.ts";
import { gatewayPort, operatorName, poolLabel, poolNames, workerPort } from "../names.ts";
import { workerPodLabels } from "../worker/pod.ts";
import { gatewayLabels, gatewaySelector } from "./gateway-objects.ts";
import type { Pool } from "./pool.ts";

/** The labels of the operator's own pods. */
export const operatorSelector = { "app.kubernetes.io/name": operatorName } as const;

/**
 * Who may reach whom: workers are reached by the gateways of their pool, and by the operator, which
 * asks them about their builds.
 *
 * @param operatorNamespace Where the operator runs.
 */
export function networkPolicies(pool: Pool, operatorNamespace: string) {
  const { gateway, networking, observability } = pool.spec;
  const { allowedCIDRs, deniedEgressCIDRs } = networking;
  const limitsGateway = allowedCIDRs.length > 0 || observability.metrics.allowedNamespaces.length > 0;
  return [
    workerPolicy(pool, operatorNamespace),
    deniedEgressCIDRs.length > 0 && egressPolicy(pool),
    gateway.enabled && limitsGateway && gatewayPolicy(pool),
  ];
}

function workerPolicy({ metadata: { name } }: Pool, operatorNamespace: string) {
  return child(NetworkPolicy, {
    metadata: { name: poolNames(name).workerNetworkPolicy, labels: { ...managedByLabel, [poolLabel]: name } },
    spec: {
      podSelector: { matchLabels: workerPodLabels(name) },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [
            { podSelector: { matchLabels: gatewaySelector(name) } },
            {
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": operatorNamespace } },
              podSelector: { matchLabels: operatorSelector },
            },
          ],
          ports: [{ port: workerPort, protocol: "TCP" }],
        },
      ],
    },
  });
}

const families = [
  { cidr: "0.0.0.0/0", is: (cidr: string) => !cidr.includes(":") },
  { cidr: "::/0", is: (cidr: string) => cidr.includes(":") },
];

/** Where builds may connect to: anywhere but to some addresses, and to DNS wherever that is. */
function egressPolicy({ metadata: { name }, spec }: Pool) {
  const { deniedEgressCIDRs } = spec.networking;
  return child(NetworkPolicy, {
    metadata: {
      name: poolNames(name).workerEgressPolicy,
      labels: { ...managedByLabel, [poolLabel]: name },
    },
    spec: {
      podSelector: { matchLabels: workerPodLabels(name) },
      policyTypes: ["Egress"],
      egress: [
        {
          to: families.map(({ cidr, is }) => ({ ipBlock: { cidr, except: deniedEgressCIDRs.filter(is) } })),
        },
        {
          ports: [
            { port: 53, protocol: "UDP" },
            { port: 53, protocol: "TCP" },
          ],
        },
      ],
    },
  });
}

/** Clients from allowed addresses, and scrapers of metrics from allowed namespaces. */
function gatewayPolicy({ metadata: { name }, spec }: Pool) {
  const { port, allowedNamespaces } = spec.observability.metrics;
  const clients = spec.networking.allowedCIDRs.map((cidr) => ({ ipBlock: { cidr } }));
  const scrapers = allowedNamespaces.map((namespace) => ({
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
  }));
  return child(NetworkPolicy, {
    metadata: { name: poolNames(name).gateway, labels: gatewayLabels(name) },
    spec: {
      podSelector: { matchLabels: gatewaySelector(name) },
      policyTypes: ["Ingress"],
      ingress: [
        { ...from(clients), ports: [{ port: gatewayPort, protocol: "TCP" }] },
        { ...from(scrapers), ports: [{ port, protocol: "TCP" }] },
      ],
    },
  });
}

/** No list stands for every peer. */
function from<T>(peers: readonly T[]): { readonly from?: readonly T[] } {
  return peers.length > 0 ? { from: peers } : {};
}
