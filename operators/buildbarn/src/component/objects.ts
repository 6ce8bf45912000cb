import { type Child, child } from "@windlass/runtime";
import {
  Ingress,
  type IngressInput,
  NetworkPolicy,
  type NetworkPolicyInput,
  PodDisruptionBudget,
  Service,
  type ServiceInput,
} from "@windlass/runtime/kinds";
import { ports } from "../configuration/index.ts";
import { type Component, labelsOf, metricsLabel, setLabel, shardClientLabel } from "../names.ts";
import type { ComponentObject } from "../set/index.ts";

/** A component, as its objects are made for it. */
export interface Made {
  readonly app: Component;
  readonly object: ComponentObject;
  /** The labels that select its pods. */
  readonly selector: Readonly<Record<string, string>>;
}

function metadataOf({ app, object }: Made, name = object.metadata.name) {
  return { name, labels: labelsOf(app, object.metadata.name, object.spec.cluster) };
}

/** The Service of a component. The ports are those of its containers, by name. */
export function serviceFor(
  made: Made,
  own: Readonly<Record<string, number>>,
  spec: Partial<ServiceInput["spec"]> = {},
  annotations: Readonly<Record<string, string>> = {},
): Child<typeof Service> {
  return child(
    Service,
    {
      metadata: { ...metadataOf(made), ...(Object.keys(annotations).length > 0 && { annotations }) },
      spec: {
        ...spec,
        selector: made.selector,
        ports: Object.entries(own).map(([name, port]) => ({
          name,
          port,
          targetPort: name,
          protocol: "TCP",
          ...(name.endsWith("grpc") && { appProtocol: "kubernetes.io/h2c" }),
        })),
      },
    },
    // A load balancer may take its time, or never come: pods need not wait for it.
    { readyWhen: () => true, onImmutable: "replace" },
  );
}

/**
 * Leads to ports that are for pods of the set alone. A Service of its own, so that no load balancer
 * leads to them.
 */
export function internalServiceFor(
  made: Made,
  name: string,
  own: Readonly<Record<string, number>>,
): Child<typeof Service> {
  const { kind, object, options } = serviceFor(made, own);
  return child(kind, { ...object, metadata: metadataOf(made, name) }, options);
}

/** Where metrics are scraped. A Service of its own, so that no load balancer leads to them. */
export function metricsServiceFor(made: Made): Child<typeof Service> {
  const { name, labels } = metadataOf(made, `${made.object.metadata.name}-metrics`);
  return child(Service, {
    metadata: { name, labels: { ...labels, [metricsLabel]: "true" } },
    spec: {
      clusterIP: "None",
      selector: made.selector,
      ports: [{ name: "metrics", port: ports.diagnostics, targetPort: "metrics", protocol: "TCP" }],
    },
  });
}

/** How many pods may go at a time. */
export function budgetFor(
  made: Made,
  maxUnavailable: number | string = 1,
): Child<typeof PodDisruptionBudget> {
  return child(PodDisruptionBudget, {
    metadata: metadataOf(made),
    spec: { maxUnavailable, selector: { matchLabels: made.selector } },
  });
}

/** What an Ingress is made of. */
export interface IngressFields {
  readonly className?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly tlsSecretName?: string;
}

/** Leads to the port `http` of a component's Service. */
export function ingressFor(made: Made, host: string, fields: IngressFields): Child<typeof Ingress> {
  const { className, annotations, tlsSecretName } = fields;
  const backend = { service: { name: made.object.metadata.name, port: { name: "http" } } };
  const spec: IngressInput["spec"] = {
    ...(className !== undefined && { ingressClassName: className }),
    ...(tlsSecretName !== undefined && { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
    rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
  };
  const metadata = metadataOf(made);
  return child(Ingress, {
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec,
  });
}

type Peer = NonNullable<
  NonNullable<NonNullable<NonNullable<NetworkPolicyInput["spec"]>["ingress"]>[number]["from"]>[number]
>;

/** The pods that place blobs on the shards of a set. */
export function shardClients(set: string): Peer {
  return { podSelector: { matchLabels: { [setLabel]: set, [shardClientLabel]: "true" } } };
}

/** The pods of one component of a set. */
export function podsOf(app: Component, set: string): Peer {
  return { podSelector: { matchLabels: { [setLabel]: set, app } } };
}

/** Pods of the operator, in whatever namespace it runs. */
export const operatorPods: Peer = {
  namespaceSelector: {},
  podSelector: { matchLabels: { "app.kubernetes.io/name": "buildbarn-operator" } },
};

/**
 * Who may reach which port of a component. Undefined: anyone. Metrics are open to all: they reveal
 * nothing about builds.
 */
export function networkPolicyFor(
  made: Made,
  rules: readonly { readonly port: number; readonly from?: readonly Peer[] }[],
): Child<typeof NetworkPolicy> {
  return child(NetworkPolicy, {
    metadata: metadataOf(made),
    spec: {
      podSelector: { matchLabels: made.selector },
      policyTypes: ["Ingress"],
      ingress: [...rules, { port: ports.diagnostics }].map((rule) => ({
        ports: [{ port: rule.port, protocol: "TCP" }],
        ...("from" in rule && rule.from && { from: [...rule.from] }),
      })),
    },
  });
}
