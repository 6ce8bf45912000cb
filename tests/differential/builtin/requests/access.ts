import { patches, type Story } from "../story.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";

export const access: Story[] = [
  {
    name: "role",
    at: `${rbac}/namespaces/{ns}/roles`,
    steps: [
      {
        post: { metadata: { name: "r" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
      },
      { post: {} },
      { post: { rules: [{}] } },
      { post: { rules: [{ verbs: ["get"] }] } },
      { post: { rules: [{ verbs: ["get"], resources: ["pods"] }] } },
      { post: { rules: [{ verbs: ["get"], apiGroups: [""] }] } },
      { post: { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] } },
      { post: { metadata: { name: "a:b" }, rules: [] } },
      { post: { metadata: { name: "a/b" }, rules: [] } },
      ...patches("r", [
        { rules: [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["*"] }] },
        { rules: [{}] },
        { rules: null },
      ]),
      { delete: "r" },
    ],
  },
  {
    name: "clusterrole",
    at: `${rbac}/clusterroles`,
    steps: [
      { post: { metadata: { name: "{ns}-r" }, rules: [{ nonResourceURLs: ["/healthz"], verbs: ["get"] }] } },
      {
        post: {
          rules: [{ nonResourceURLs: ["/healthz"], resources: ["pods"], apiGroups: [""], verbs: ["get"] }],
        },
      },
      { post: { rules: [{ verbs: ["get"] }] } },
      { post: { aggregationRule: {} } },
      { post: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "bad key": "x" } }] } } },
      { post: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "x" } }] } } },
      ...patches("{ns}-r", [
        { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
        { aggregationRule: { clusterRoleSelectors: [] } },
      ]),
      { delete: "{ns}-r" },
    ],
  },
  {
    name: "rolebinding",
    at: `${rbac}/namespaces/{ns}/rolebindings`,
    steps: [
      {
        post: {
          metadata: { name: "b" },
          roleRef: { kind: "Role", name: "r" },
          subjects: [
            { kind: "User", name: "u" },
            { kind: "ServiceAccount", name: "s", namespace: "{ns}" },
            { kind: "Group", name: "g" },
          ],
        },
      },
      { post: {} },
      { post: { roleRef: { kind: "Nope", name: "r" } } },
      { post: { roleRef: { kind: "Role" } } },
      { post: { roleRef: { apiGroup: "x", kind: "Role", name: "r" } } },
      { post: { roleRef: { kind: "Role", name: "r" }, subjects: [{}] } },
      { post: { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s" }] } },
      {
        post: {
          roleRef: { kind: "Role", name: "r" },
          subjects: [{ kind: "ServiceAccount", name: "Bad_Name", apiGroup: "x" }],
        },
      },
      {
        post: {
          roleRef: { kind: "Role", name: "r" },
          subjects: [
            { kind: "User", name: "" },
            { kind: "User", name: "u", apiGroup: "x" },
            { kind: "Nope", name: "x" },
          ],
        },
      },
      ...patches("b", [
        { roleRef: { name: "other" } },
        { subjects: [{ kind: "User", name: "v" }] },
        { subjects: null },
      ]),
      { delete: "b" },
    ],
  },
  {
    name: "clusterrolebinding",
    at: `${rbac}/clusterrolebindings`,
    steps: [
      {
        post: {
          metadata: { name: "{ns}-b" },
          roleRef: { kind: "ClusterRole", name: "view" },
          subjects: [{ kind: "Group", name: "g" }],
        },
      },
      { post: {} },
      { post: { roleRef: { kind: "Role", name: "r" } } },
      {
        post: {
          roleRef: { kind: "ClusterRole", name: "r" },
          subjects: [{ kind: "ServiceAccount", name: "s" }],
        },
      },
      ...patches("{ns}-b", [{ roleRef: { name: "other" } }, { subjects: [{ kind: "User", name: "v" }] }]),
      { delete: "{ns}-b" },
    ],
  },
  {
    name: "csr",
    at: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    steps: [
      { post: {} },
      { post: { spec: { request: "bm9wZQ==", signerName: "example.com/x", usages: ["client auth"] } } },
      { post: { spec: { request: "bm9wZQ==", signerName: "bad", usages: ["nope"] } } },
    ],
  },
];
