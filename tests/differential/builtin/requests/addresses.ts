import { patches, type Story, variants } from "../story.ts";

const services = "/api/v1/namespaces/{ns}/services";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";

const ranges = "/apis/networking.k8s.io/v1/servicecidrs";

const service = (name: string, clusterIP: string) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], clusterIP },
});

const address = (name: string, resource: string, parent: string) => ({
  metadata: { name },
  spec: { parentRef: { resource, namespace: "{ns}", name: parent } },
});

/**
 * The Service that the API server keeps for itself, and the addresses of all Services as objects.
 */
export const serviceAddresses: readonly Story[] = [
  {
    name: "kubernetes service",
    at: services,
    steps: [
      { get: "kubernetes", at: "/api/v1/namespaces/default/services" },
      { get: "kubernetes", at: ranges },
      { get: "10.96.0.1", at: addresses },
      { post: service("first", "10.96.0.1") },
      { post: service("network", "10.96.0.0") },
      { post: service("broadcast", "10.96.255.255") },
      {
        send: [
          "PATCH",
          "/api/v1/namespaces/default/services/kubernetes",
          { metadata: { labels: { a: "b" } } },
          "merge",
        ],
      },
      {
        send: [
          "PATCH",
          "/api/v1/namespaces/default/services/kubernetes",
          { metadata: { labels: { a: null } } },
          "merge",
        ],
      },
    ],
  },
  {
    name: "service range",
    at: ranges,
    steps: [
      { post: { metadata: { name: "{ns}-range" }, spec: { cidrs: ["10.1.0.0/24"] } } },
      ...patches("{ns}-range", [{ spec: { cidrs: ["10.1.0.0/25"] } }, { metadata: { labels: { a: "b" } } }]),
      { delete: "{ns}-range" },
      ...variants({ spec: {} }, [
        { "spec.cidrs": [] },
        { "spec.cidrs": ["10.1.0.1/24"] },
        { "spec.cidrs": ["nope"] },
        { "spec.cidrs": ["10.1.0.0/24", "10.2.0.0/24"] },
        { "spec.cidrs": ["fd00::/112", "10.1.0.0/24", "10.2.0.0/24"] },
      ]),
    ],
  },
  {
    name: "service address objects",
    at: services,
    steps: [
      { post: service("held", "10.96.200.77") },
      { get: "10.96.200.77", at: addresses },
      { post: service("again", "10.96.200.77") },
      { post: address("10.96.200.77", "services", "held"), at: addresses },
      { patch: { metadata: { labels: { a: "b" } } }, name: "held" },
      { get: "10.96.200.77", at: addresses },
      // What has no address releases the one it had.
      {
        patch: { spec: { type: "ExternalName", externalName: "a.b", clusterIP: null, clusterIPs: null } },
        name: "held",
      },
      { get: "10.96.200.77", at: addresses },
      { post: service("next", "10.96.200.77") },
      { delete: "next" },
      { get: "10.96.200.77", at: addresses },
      { patch: { spec: { type: "ClusterIP", externalName: null, clusterIP: "10.96.201.77" } }, name: "held" },
      // Whether it is an object now cannot be compared: the real server's repair loop takes it away
      // when its cache is behind.
      { delete: "held" },
      { get: "10.96.201.77", at: addresses },
    ],
  },
  {
    name: "address objects of others",
    at: services,
    steps: [
      { post: address("10.96.201.3", "gateways", "mine"), at: addresses },
      { post: service("taken", "10.96.201.3") },
      { send: ["DELETE", `${addresses}/10.96.201.3`] },
      { post: service("taken", "10.96.201.3") },
      { send: ["DELETE", `${addresses}/10.96.201.3`] },
      { get: "10.96.201.3", at: addresses },
      { delete: "taken" },
      { get: "10.96.201.3", at: addresses },
      { send: ["POST", `${services}?dryRun=All`, service("dry", "10.96.201.4")] },
      { get: "10.96.201.4", at: addresses },
      { post: { metadata: { name: "invalid" }, spec: { ports: [{ port: 0 }], clusterIP: "10.96.201.4" } } },
      { get: "10.96.201.4", at: addresses },
    ],
  },
];
