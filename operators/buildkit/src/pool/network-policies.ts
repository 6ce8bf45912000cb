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
  const { gateway, networking } = pool.spec;
  const { allowedCIDRs } = networking;
  return [
    workerPolicy(pool, operatorNamespace),
    gateway.enabled && allowedCIDRs.length > 0 && gatewayPolicy(pool),
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

/** Clients from allowed addresses, and scrapers of metrics in the cluster. */
function gatewayPolicy({ metadata: { name }, spec }: Pool) {
  return child(NetworkPolicy, {
    metadata: { name: poolNames(name).gateway, labels: gatewayLabels(name) },
    spec: {
      podSelector: { matchLabels: gatewaySelector(name) },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: spec.networking.allowedCIDRs.map((cidr) => ({ ipBlock: { cidr } })),
          ports: [{ port: gatewayPort, protocol: "TCP" }],
        },
        { ports: [{ port: spec.observability.metrics.port, protocol: "TCP" }] },
      ],
    },
  });
}
