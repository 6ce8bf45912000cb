import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Story, variants } from "../story.ts";

const base: JsonObject = { spec: { selector: { a: "b" }, ports: [{ port: 80 }] } };
const ports = (...list: JsonObject[]): { readonly [path: string]: JsonObject[] } => ({ "spec.ports": list });

export const services: Story[] = [
  {
    name: "service create",
    at: "/api/v1/namespaces/{ns}/services",
    steps: [
      { post: base },
      { post: {} },
      { post: { spec: {} } },
      { post: { metadata: { name: "1abc" }, spec: { ports: [{ port: 80 }] } } },
      ...variants(base, [
        ports(
          { port: 80, name: "a" },
          { port: 81, name: "b", targetPort: "http", protocol: "UDP", appProtocol: "http" },
        ),
        ports({ port: 80 }, { port: 81 }),
        ports({ port: 80, name: "a" }, { port: 81, name: "a" }),
        ports({ port: 80, name: "a" }, { port: 80, name: "b" }),
        ports({ port: 80, name: "a" }, { port: 80, name: "b", protocol: "UDP" }),
        ports({ port: 0 }),
        ports({ port: 70000 }),
        ports({ port: 80, targetPort: 0 }),
        ports({ port: 80, targetPort: 99999 }),
        ports({ port: 80, targetPort: "Bad_Name" }),
        ports({ port: 80, targetPort: "" }),
        ports({ port: 80, protocol: "HTTP" }),
        ports({ port: 80, name: "Bad" }),
        ports({ port: 80, appProtocol: "bad proto" }),
        ports({ port: 80, nodePort: 30080 }),
        ports({}),
        { "spec.ports": [] },
        { "spec.type": "NodePort" },
        { "spec.type": "NodePort", ...ports({ port: 80, nodePort: 30081 }) },
        { "spec.type": "NodePort", ...ports({ port: 80, nodePort: 80 }) },
        { "spec.type": "NodePort", ...ports({ port: 80, nodePort: 30081 }) },
        {
          "spec.type": "NodePort",
          ...ports(
            { port: 53, name: "a", nodePort: 30053 },
            { port: 53, name: "b", protocol: "UDP", nodePort: 30053 },
          ),
        },
        {
          "spec.type": "NodePort",
          ...ports({ port: 53, name: "a", nodePort: 30054 }, { port: 54, name: "b", nodePort: 30054 }),
        },
        { "spec.type": "NodePort", "spec.clusterIP": "None" },
        { "spec.type": "LoadBalancer" },
        { "spec.type": "LoadBalancer", "spec.allocateLoadBalancerNodePorts": false },
        {
          "spec.type": "LoadBalancer",
          "spec.loadBalancerClass": "example.com/x",
          "spec.loadBalancerIP": "1.2.3.4",
          "spec.loadBalancerSourceRanges": ["10.0.0.0/8"],
        },
        { "spec.type": "LoadBalancer", "spec.loadBalancerSourceRanges": ["nope"] },
        { "spec.type": "LoadBalancer", "spec.externalTrafficPolicy": "Local" },
        { "spec.loadBalancerSourceRanges": ["10.0.0.0/8"] },
        { "spec.loadBalancerClass": "a/b" },
        { "spec.allocateLoadBalancerNodePorts": true },
        { "spec.externalTrafficPolicy": "Local" },
        { "spec.type": "NodePort", "spec.externalTrafficPolicy": "Nope" },
        { "spec.internalTrafficPolicy": "Local" },
        { "spec.internalTrafficPolicy": "Nope" },
        { "spec.healthCheckNodePort": 30000 },
        { "spec.type": "ExternalName", "spec.externalName": "a.b.c" },
        {
          "spec.type": "ExternalName",
          "spec.externalName": "a.b.c",
          "spec.ports": undefined,
          "spec.selector": undefined,
        },
        { "spec.type": "ExternalName" },
        { "spec.type": "ExternalName", "spec.externalName": "Bad_Name" },
        { "spec.type": "ExternalName", "spec.externalName": "a.b", "spec.clusterIP": "10.96.3.4" },
        { "spec.type": "Nope" },
        { "spec.clusterIP": "None" },
        { "spec.clusterIP": "None", "spec.ports": undefined },
        { "spec.clusterIP": "10.96.200.1" },
        { "spec.clusterIP": "10.96.200.1" },
        { "spec.clusterIP": "1.2.3.4" },
        { "spec.clusterIP": "nope" },
        { "spec.clusterIPs": ["10.96.200.2"] },
        { "spec.clusterIP": "10.96.200.3", "spec.clusterIPs": ["10.96.200.4"] },
        { "spec.ipFamilyPolicy": "PreferDualStack" },
        { "spec.ipFamilyPolicy": "RequireDualStack" },
        { "spec.ipFamilies": ["IPv6"] },
        { "spec.ipFamilies": ["IPv4", "IPv4"] },
        { "spec.ipFamilies": ["Nope"] },
        { "spec.sessionAffinity": "ClientIP" },
        {
          "spec.sessionAffinity": "ClientIP",
          "spec.sessionAffinityConfig": { clientIP: { timeoutSeconds: 100000 } },
        },
        { "spec.sessionAffinity": "Nope" },
        { "spec.sessionAffinityConfig": { clientIP: { timeoutSeconds: 10 } } },
        { "spec.externalIPs": ["1.2.3.4"] },
        { "spec.externalIPs": ["nope"] },
        { "spec.externalIPs": ["127.0.0.1"] },
        { "spec.selector": { "bad key": "x" } },
        { "spec.selector": undefined },
        { "spec.publishNotReadyAddresses": true },
        { "spec.trafficDistribution": "PreferClose" },
        { "spec.trafficDistribution": "Nope" },
        { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
      ]),
    ],
  },
  {
    name: "service update",
    at: "/api/v1/namespaces/{ns}/services",
    steps: [
      {
        post: {
          metadata: { name: "u" },
          spec: { selector: { a: "b" }, ports: [{ port: 80 }], clusterIP: "10.96.201.1" },
        },
      },
      ...patches("u", [
        { spec: { clusterIP: "10.96.201.2" } },
        { spec: { clusterIP: null } },
        { spec: { clusterIP: null, clusterIPs: null } },
        { spec: { clusterIP: "None" } },
        { spec: { ports: [] } },
        { spec: { ports: [{ port: 81 }] } },
        { spec: { selector: { c: "d" } } },
        { spec: { type: "NodePort" } },
        { spec: { type: "NodePort", ports: [{ port: 81, nodePort: 30091 }] } },
        { spec: { ports: [{ port: 82 }] } },
        {
          spec: {
            ports: [
              { port: 83, name: "x" },
              { port: 84, name: "y" },
            ],
          },
        },
        { spec: { type: "LoadBalancer" } },
        { spec: { externalTrafficPolicy: "Local" } },
        { spec: { healthCheckNodePort: 30099 } },
        { spec: { externalTrafficPolicy: "Cluster" } },
        { spec: { loadBalancerClass: "a/b" } },
        { spec: { type: "ClusterIP" } },
        { spec: { type: "ExternalName", externalName: "a.b" } },
        { spec: { type: "ClusterIP", externalName: null } },
        { spec: { type: "ClusterIP", externalName: null, ports: [{ port: 80 }] } },
        { spec: { sessionAffinity: "ClientIP" } },
        { spec: { sessionAffinity: "None" } },
        { spec: { ipFamilies: ["IPv6"] } },
        { spec: { ipFamilyPolicy: "RequireDualStack" } },
        { metadata: { labels: { a: "b" } } },
        { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
      ]),
      ...patches(
        "u",
        [
          { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
          {
            status: {
              conditions: [
                {
                  type: "a",
                  status: "True",
                  reason: "R",
                  message: "m",
                  lastTransitionTime: "2024-01-01T00:00:00Z",
                },
              ],
            },
          },
          { spec: { type: "LoadBalancer" } },
        ],
        "status",
      ),
      { patch: { spec: { type: "LoadBalancer" } }, name: "u" },
      ...patches(
        "u",
        [
          { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
          { status: { loadBalancer: { ingress: [{ ip: "nope" }] } } },
          { status: { loadBalancer: { ingress: [{ hostname: "1.2.3.4" }] } } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { put: { metadata: { name: "created" }, spec: { ports: [{ port: 80 }] } }, name: "created" },
      { put: { metadata: { name: "created" }, spec: { ports: [{ port: 81 }] } }, name: "created" },
      { delete: "u" },
      { post: { metadata: { name: "v" }, spec: { ports: [{ port: 80 }], clusterIP: "10.96.201.1" } } },
      { post: { metadata: { name: "h" }, spec: { ports: [{ port: 80 }], clusterIP: "None" } } },
      ...patches("h", [
        { spec: { clusterIP: "10.96.201.77" } },
        { spec: { ports: null } },
        { spec: { type: "NodePort" } },
      ]),
    ],
  },
  {
    name: "endpoints",
    at: "/api/v1/namespaces/{ns}/endpoints",
    steps: [
      {
        post: {
          metadata: { name: "e" },
          subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
        },
      },
      { post: {} },
      { post: { subsets: [{}] } },
      { post: { subsets: [{ addresses: [{}] }] } },
      { post: { subsets: [{ addresses: [{ ip: "nope" }], ports: [{ port: 0 }] }] } },
      { post: { subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 80, protocol: "X" }] }] } },
      {
        post: {
          subsets: [
            {
              addresses: [{ ip: "1.2.3.4", hostname: "Bad_Name", nodeName: "n" }],
              ports: [{ port: 80 }, { port: 81 }],
            },
          ],
        },
      },
      {
        post: {
          subsets: [
            {
              addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }],
              ports: [
                { port: 80, name: "b" },
                { port: 79, name: "a" },
              ],
            },
            {
              addresses: [{ ip: "10.0.0.1" }],
              notReadyAddresses: [{ ip: "10.0.0.3" }],
              ports: [{ port: 80, name: "b" }],
            },
          ],
        },
      },
      ...patches("e", [
        { subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 81, name: "x" }] }] },
        { subsets: null },
        { metadata: { labels: { a: "b" } } },
      ]),
      { delete: "e" },
    ],
  },
  {
    name: "endpointslice",
    at: "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
    steps: [
      {
        post: {
          metadata: { name: "e", labels: { "kubernetes.io/service-name": "s" } },
          addressType: "IPv4",
          endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
          ports: [{ port: 80 }],
        },
      },
      { post: {} },
      { post: { addressType: "IPv4" } },
      { post: { addressType: "IPv4", endpoints: [] } },
      { post: { addressType: "IPv4", endpoints: [{}] } },
      { post: { addressType: "Nope", endpoints: [] } },
      { post: { addressType: "IPv4", endpoints: [{ addresses: ["nope"] }] } },
      { post: { addressType: "IPv6", endpoints: [{ addresses: ["10.0.0.1"] }] } },
      { post: { addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] } },
      {
        post: {
          addressType: "IPv4",
          endpoints: [{ addresses: ["10.0.0.1"], hostname: "Bad_Name", nodeName: "Bad_Name", zone: "z" }],
        },
      },
      { post: { addressType: "IPv4", endpoints: [], ports: [{ port: 80 }, { port: 81 }] } },
      {
        post: {
          addressType: "IPv4",
          endpoints: [],
          ports: [{ port: 80, name: "Bad_Name", protocol: "X", appProtocol: "bad x" }],
        },
      },
      {
        post: {
          addressType: "IPv4",
          endpoints: [
            {
              addresses: ["10.0.0.1"],
              hints: { forZones: [{ name: "z" }] },
              targetRef: { kind: "Pod", name: "p", namespace: "{ns}" },
            },
          ],
          ports: [{ name: "http", port: 80, appProtocol: "http" }],
        },
      },
      ...patches("e", [
        { addressType: "IPv6" },
        { endpoints: [{ addresses: ["10.0.0.2"] }] },
        { ports: [{ port: 90 }] },
        { metadata: { labels: { z: "y" } } },
        { metadata: { annotations: { z: "y" } } },
      ]),
      { delete: "e" },
    ],
  },
  {
    name: "ingress",
    at: "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
    steps: [
      {
        post: {
          metadata: { name: "i" },
          spec: {
            rules: [
              {
                host: "a.example.com",
                http: {
                  paths: [
                    {
                      path: "/",
                      pathType: "Prefix",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      { post: {} },
      { post: { spec: {} } },
      { post: { spec: { defaultBackend: { service: { name: "s", port: { name: "http" } } } } } },
      { post: { spec: { defaultBackend: {} } } },
      { post: { spec: { defaultBackend: { service: { name: "s" } } } } },
      { post: { spec: { defaultBackend: { service: { name: "", port: { number: 80 } } } } } },
      {
        post: {
          spec: { defaultBackend: { service: { name: "Bad_Name", port: { number: 80, name: "x" } } } },
        },
      },
      { post: { spec: { defaultBackend: { service: { name: "s", port: { number: 99999 } } } } } },
      {
        post: {
          spec: {
            defaultBackend: {
              service: { name: "s", port: { number: 80 } },
              resource: { kind: "K", name: "n" },
            },
          },
        },
      },
      { post: { spec: { defaultBackend: { resource: { apiGroup: "g.io", kind: "K", name: "n" } } } } },
      { post: { spec: { rules: [{ http: { paths: [] } }] } } },
      { post: { spec: { rules: [{ host: "a" }] } } },
      {
        post: {
          spec: {
            rules: [{ http: { paths: [{ backend: { service: { name: "s", port: { number: 80 } } } }] } }],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                http: {
                  paths: [
                    {
                      path: "x",
                      pathType: "Exact",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                http: {
                  paths: [
                    {
                      path: "/a//b",
                      pathType: "Prefix",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                http: {
                  paths: [
                    {
                      path: "x",
                      pathType: "ImplementationSpecific",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                http: {
                  paths: [{ pathType: "Nope", backend: { service: { name: "s", port: { number: 80 } } } }],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                host: "Bad_Host",
                http: {
                  paths: [
                    {
                      path: "/",
                      pathType: "Prefix",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                host: "1.2.3.4",
                http: {
                  paths: [
                    {
                      path: "/",
                      pathType: "Prefix",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [
              {
                host: "*.a.b",
                http: {
                  paths: [
                    {
                      path: "/",
                      pathType: "Prefix",
                      backend: { service: { name: "s", port: { number: 80 } } },
                    },
                  ],
                },
              },
            ],
            tls: [{ hosts: ["*.a.b"], secretName: "s" }],
          },
        },
      },
      {
        post: {
          spec: {
            rules: [{ host: "*a.b", http: { paths: [{ path: "/", pathType: "Prefix", backend: {} }] } }],
            tls: [{ hosts: ["Bad_"], secretName: "Bad_" }],
          },
        },
      },
      {
        post: {
          spec: {
            ingressClassName: "Bad_Name",
            defaultBackend: { service: { name: "s", port: { number: 80 } } },
          },
        },
      },
      {
        post: {
          spec: {
            ingressClassName: "nginx",
            defaultBackend: { service: { name: "s", port: { number: 80 } } },
          },
        },
      },
      {
        post: {
          metadata: { annotations: { "kubernetes.io/ingress.class": "x" } },
          spec: {
            ingressClassName: "nginx",
            defaultBackend: { service: { name: "s", port: { number: 80 } } },
          },
        },
      },
      {
        post: {
          metadata: { annotations: { "kubernetes.io/ingress.class": "x" } },
          spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
        },
      },
      ...patches("i", [
        { spec: { ingressClassName: "nginx" } },
        { spec: { rules: null } },
        { metadata: { annotations: { a: "b" } } },
        { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
      ]),
      ...patches(
        "i",
        [
          {
            status: {
              loadBalancer: { ingress: [{ ip: "1.2.3.4", ports: [{ port: 80, protocol: "TCP" }] }] },
            },
          },
          { status: { loadBalancer: { ingress: [{ ip: "x" }] } } },
          { metadata: { labels: { s: "t" } }, spec: { ingressClassName: "zz" } },
        ],
        "status",
      ),
      { delete: "i" },
    ],
  },
  {
    name: "ingressclass",
    at: "/apis/networking.k8s.io/v1/ingressclasses",
    steps: [
      { post: { metadata: { name: "{ns}-c" }, spec: { controller: "example.com/x" } } },
      { post: {} },
      { post: { spec: { controller: "bad controller" } } },
      { post: { spec: { controller: "example.com/x", parameters: { kind: "K", name: "n" } } } },
      {
        post: {
          spec: { controller: "example.com/x", parameters: { kind: "K", name: "n", scope: "Namespace" } },
        },
      },
      {
        post: { spec: { controller: "example.com/x", parameters: { kind: "K", name: "n", scope: "Nope" } } },
      },
      {
        post: {
          spec: {
            controller: "example.com/x",
            parameters: { kind: "K", name: "n", scope: "Cluster", namespace: "x" },
          },
        },
      },
      ...patches("{ns}-c", [
        { spec: { controller: "other.com/y" } },
        { metadata: { annotations: { a: "b" } } },
        { spec: { parameters: { kind: "K", name: "n", scope: "Cluster" } } },
      ]),
      { delete: "{ns}-c" },
    ],
  },
  {
    name: "networkpolicy",
    at: "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
    steps: [
      { post: { metadata: { name: "n" }, spec: { podSelector: {} } } },
      { post: {} },
      {
        post: {
          spec: {
            podSelector: {},
            egress: [
              { to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ port: 80 }] },
            ],
          },
        },
      },
      {
        post: {
          spec: {
            podSelector: {},
            ingress: [{ from: [{ podSelector: { matchLabels: { a: "b" } }, namespaceSelector: {} }] }],
          },
        },
      },
      { post: { spec: { podSelector: {}, ingress: [{ from: [{}] }] } } },
      {
        post: {
          spec: {
            podSelector: {},
            ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }],
          },
        },
      },
      { post: { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "nope" } }] }] } } },
      { post: { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: {} }] }] } } },
      {
        post: {
          spec: {
            podSelector: {},
            egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }],
          },
        },
      },
      { post: { spec: { podSelector: {}, policyTypes: ["Nope"] } } },
      { post: { spec: { podSelector: {}, policyTypes: ["Ingress", "Egress", "Ingress"] } } },
      {
        post: {
          spec: {
            podSelector: {},
            ingress: [
              {
                ports: [
                  { port: 0 },
                  { port: "Bad_Name" },
                  { protocol: "X" },
                  { port: 80, endPort: 70 },
                  { endPort: 70 },
                  { port: "a", endPort: 70 },
                ],
              },
            ],
          },
        },
      },
      { post: { spec: { podSelector: { matchExpressions: [{ key: "a", operator: "In" }] } } } },
      ...patches("n", [
        { spec: { podSelector: { matchLabels: { a: "b" } } } },
        { spec: { policyTypes: ["Egress"] } },
        { metadata: { labels: { a: "b" } } },
      ]),
      { delete: "n" },
    ],
  },
];
