import { patches, type Story } from "../story.ts";

export const networking: Story[] = [
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
