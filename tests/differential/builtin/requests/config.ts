import { patches, type Story } from "../story.ts";

const data = (text: string): string => Buffer.from(text).toString("base64");

export const config: Story[] = [
  {
    name: "configmap",
    at: "/api/v1/namespaces/{ns}/configmaps",
    steps: [
      { post: { metadata: { name: "c" }, data: { a: "b" } } },
      { post: {} },
      { post: { data: { "bad key!": "x", "..": "y", ".": "z", "": "e" } } },
      { post: { data: { a: "x" }, binaryData: { a: data("y") } } },
      { post: { binaryData: { b: data("y") } } },
      { post: { data: { a: "x".repeat(1024 * 1024 + 1) } } },
      { post: { immutable: true, metadata: { name: "i" }, data: { a: "b" } } },
      ...patches("i", [
        { data: { a: "c" } },
        { binaryData: { x: data("y") } },
        { immutable: false },
        { immutable: null },
        { metadata: { labels: { a: "b" } } },
      ]),
      ...patches("c", [
        { data: { "bad key!": "x" } },
        { data: { x: "y" } },
        { immutable: true },
        { data: { x: "z" } },
      ]),
      { delete: "c" },
    ],
  },
  {
    name: "secret",
    at: "/api/v1/namespaces/{ns}/secrets",
    steps: [
      { post: { metadata: { name: "s" }, data: { a: data("b") } } },
      { post: {} },
      { post: { stringData: { x: "y", a: "over" }, data: { a: data("b") } } },
      { post: { stringData: { "bad key!": "x" } } },
      { post: { data: { a: data("x".repeat(1024 * 1024 + 1)) } } },
      { post: { type: "kubernetes.io/tls" } },
      { post: { type: "kubernetes.io/tls", stringData: { "tls.crt": "x", "tls.key": "y" } } },
      { post: { type: "kubernetes.io/dockercfg" } },
      { post: { type: "kubernetes.io/dockercfg", stringData: { ".dockercfg": "not json" } } },
      { post: { type: "kubernetes.io/dockerconfigjson" } },
      { post: { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{}" } } },
      { post: { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{" } } },
      { post: { type: "kubernetes.io/basic-auth" } },
      { post: { type: "kubernetes.io/basic-auth", stringData: { username: "u" } } },
      { post: { type: "kubernetes.io/ssh-auth" } },
      { post: { type: "kubernetes.io/ssh-auth", stringData: { "ssh-privatekey": "k" } } },
      { post: { type: "kubernetes.io/service-account-token" } },
      { post: { type: "bootstrap.kubernetes.io/token", stringData: { "token-id": "x" } } },
      { post: { type: "example.com/own" } },
      { post: { immutable: true, metadata: { name: "i" }, stringData: { a: "b" } } },
      ...patches("i", [
        { stringData: { a: "c" } },
        { immutable: false },
        { immutable: null },
        { metadata: { labels: { a: "b" } } },
      ]),
      ...patches("s", [
        { type: "other" },
        { type: null },
        { type: "" },
        { stringData: { n: "m" } },
        { data: { a: null } },
        { immutable: true },
        { data: { x: data("y") } },
      ]),
      { delete: "s" },
    ],
  },
  {
    name: "serviceaccount",
    at: "/api/v1/namespaces/{ns}/serviceaccounts",
    steps: [
      { post: { metadata: { name: "s" } } },
      {
        post: {
          secrets: [{ name: "x" }],
          imagePullSecrets: [{ name: "y" }],
          automountServiceAccountToken: false,
        },
      },
      { post: { metadata: { name: "Bad_Name" } } },
      ...patches("s", [{ imagePullSecrets: [{ name: "z" }] }, { metadata: { labels: { a: "b" } } }]),
      { delete: "s" },
    ],
  },
  {
    name: "resourcequota",
    at: "/api/v1/namespaces/{ns}/resourcequotas",
    steps: [
      { post: { metadata: { name: "q" }, spec: { hard: { "count/leases.coordination.k8s.io": "100" } } } },
      { post: {} },
      { post: { spec: { hard: { "count/x.example.com": "-1" } } } },
      { post: { spec: { hard: { "bad name": "1" } } } },
      { post: { spec: { hard: { unknown: "1" } } } },
      { post: { spec: { hard: { secrets: "1.5" } } } },
      { post: { spec: { hard: { "count/x.example.com": "1" }, scopes: ["Nope"] } } },
      { post: { spec: { hard: { services: "1" }, scopes: ["BestEffort"] } } },
      { post: { spec: { hard: { "requests.cpu": "1" }, scopes: ["BestEffort", "NotBestEffort"] } } },
      {
        post: {
          spec: {
            hard: { "count/x.example.com": "1" },
            scopeSelector: {
              matchExpressions: [
                { scopeName: "PriorityClass", operator: "In" },
                { scopeName: "Terminating", operator: "In", values: ["x"] },
              ],
            },
          },
        },
      },
      ...patches("q", [
        { spec: { hard: { "count/leases.coordination.k8s.io": "200" } } },
        { spec: { scopes: ["BestEffort"] } },
        { status: { hard: { x: "1" } } },
      ]),
      ...patches(
        "q",
        [
          {
            status: {
              hard: { "count/leases.coordination.k8s.io": "100" },
              used: { "count/leases.coordination.k8s.io": "0" },
            },
          },
          { status: { hard: { "bad name": "1" } } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "q" },
    ],
  },
  {
    name: "limitrange",
    at: "/api/v1/namespaces/{ns}/limitranges",
    steps: [
      {
        post: {
          metadata: { name: "l" },
          spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "1Ti" } }] },
        },
      },
      { post: {} },
      { post: { spec: { limits: [{}] } } },
      { post: { spec: { limits: [{ type: "Nope" }] } } },
      {
        post: {
          metadata: { name: "gone" },
          spec: { limits: [{ type: "Container", default: { cpu: "1" }, max: { memory: "1Gi" } }] },
        },
      },
      { delete: "gone" },
      { post: { spec: { limits: [{ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }] } } },
      {
        post: {
          spec: { limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "2" } }] },
        },
      },
      { post: { spec: { limits: [{ type: "Container", default: { cpu: "5" }, max: { cpu: "2" } }] } } },
      {
        post: { spec: { limits: [{ type: "Container", min: { cpu: "3" }, defaultRequest: { cpu: "2" } }] } },
      },
      { post: { spec: { limits: [{ type: "Pod", default: { cpu: "5" } }] } } },
      { post: { spec: { limits: [{ type: "Container", maxLimitRequestRatio: { cpu: "0.5" } }] } } },
      { post: { spec: { limits: [{ type: "PersistentVolumeClaim" }] } } },
      {
        post: { spec: { limits: [{ type: "Container", max: { "bad name": "1" } }, { type: "Container" }] } },
      },
      ...patches("l", [{ spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "2Ti" } }] } }]),
      { delete: "l" },
    ],
  },
  {
    name: "lease",
    at: "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
    steps: [
      {
        post: {
          metadata: { name: "l" },
          spec: {
            holderIdentity: "a",
            leaseDurationSeconds: 15,
            acquireTime: "2024-01-01T00:00:00.000000Z",
            renewTime: "2024-01-01T00:00:00.000000Z",
            leaseTransitions: 0,
          },
        },
      },
      { post: {} },
      { post: { spec: { leaseDurationSeconds: 0 } } },
      { post: { spec: { leaseDurationSeconds: -1, leaseTransitions: -1 } } },
      { post: { spec: { renewTime: "2024-01-01T00:00:00Z" } } },
      { post: { spec: { holderIdentity: "" } } },
      { post: { spec: { strategy: "Nope" } } },
      { post: { spec: { preferredHolder: "x" } } },
      { post: { spec: { strategy: "OldestEmulationVersion", preferredHolder: "x" } } },
      { put: { metadata: { name: "l" }, spec: { holderIdentity: "b" } }, name: "l" },
      { put: { metadata: { name: "m" }, spec: { holderIdentity: "b" } }, name: "m" },
      ...patches("l", [
        { spec: { holderIdentity: "b", leaseTransitions: 1 } },
        { spec: { leaseDurationSeconds: -5 } },
      ]),
      { delete: "l" },
    ],
  },
  {
    name: "namespace",
    at: "/api/v1/namespaces",
    steps: [
      { post: { metadata: { name: "{ns}-n" } } },
      { post: {} },
      { post: { metadata: { name: "Bad_Name" } } },
      { post: { metadata: { labels: { "kubernetes.io/metadata.name": "other" } } } },
      { post: { spec: { finalizers: ["example.com/x"] } } },
      { post: { spec: { finalizers: ["bad"] } } },
      { post: { status: { phase: "Terminating" } } },
      ...patches("{ns}-n", [
        { metadata: { labels: { a: "b" } } },
        { metadata: { labels: { "kubernetes.io/metadata.name": "x" } } },
        { metadata: { labels: null } },
        { spec: { finalizers: [] } },
        { status: { phase: "Terminating" } },
      ]),
      ...patches(
        "{ns}-n",
        [
          { status: { phase: "Terminating" } },
          { status: { phase: "Nope" } },
          { status: { conditions: [{ type: "NamespaceDeletionDiscoveryFailure", status: "True" }] } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "{ns}-n" },
      {
        name: "{ns}-n",
        sub: "finalize",
        edit: (object) => {
          object.spec = {};
        },
      },
    ],
  },
];
