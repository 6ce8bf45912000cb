import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import type { Step, Story } from "../story.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const group = "rbac.authorization.k8s.io";
const configMaps = "/api/v1/namespaces/{ns}/configmaps";
const roles = `${rbac}/namespaces/{ns}/roles`;

/** A user, and all that they may do in the namespace. */
function grant(user: string, rules: JsonObject[]): Step[] {
  return [
    { send: ["POST", roles, { metadata: { name: user }, rules }] },
    {
      send: [
        "POST",
        `${rbac}/namespaces/{ns}/rolebindings`,
        {
          metadata: { name: user },
          roleRef: { apiGroup: group, kind: "Role", name: user },
          subjects: [{ apiGroup: group, kind: "User", name: user }],
        },
      ],
    },
  ];
}

const as = (
  user: string,
  method: string,
  path: string,
  body: JsonObject | null = null,
  type?: "merge" | "apply",
): Step => ({
  send: type === undefined ? [method, path, body] : [method, path, body, type],
  as: user,
});
const read = (user: string, path: string): Step => ({ send: ["GET", path], as: user });

const secrets = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
const role = (name: string): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "Role",
  metadata: { name },
  rules: secrets,
});
const binding = (name: string, to: string): JsonObject => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind: "Role", name: to },
});

/** What a right to certain names is good for. */
export const rights: Story[] = [
  {
    name: "rights to names of objects",
    at: configMaps,
    steps: [
      { post: { metadata: { name: "a" } } },
      { post: { metadata: { name: "b" } } },
      ...grant("reader", [
        {
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: ["a"],
          verbs: ["get", "list", "watch", "delete", "deletecollection"],
        },
      ]),
      { settleMs: 1_500 },
      ...[
        "",
        "metadata.name=a",
        "metadata.name==a",
        "metadata.name=b",
        "metadata.name!=b",
        "metadata.name=a,metadata.namespace={ns}",
        "metadata.namespace={ns},metadata.name=a",
        "metadata.namespace=other,metadata.name=a",
        "metadata.name=a,metadata.name=b",
        "metadata.name=b,metadata.name=a",
        "metadata.name!=b,metadata.name=a",
        "metadata.name=a,",
        "metadata.name=a,spec.x=y",
        "metadata.name=a,nonsense",
        "metadata.name",
        "metadata.name=a/b",
        "metadata.name=a%2525",
        "metadata.name=.",
        "metadata.name=",
      ].map((selector) => read("reader", `${configMaps}?fieldSelector=${selector}`)),
      read("reader", `${configMaps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=b`),
      as("reader", "DELETE", `${configMaps}?fieldSelector=metadata.name=a`),
      as("reader", "DELETE", configMaps),
      as("reader", "DELETE", `${configMaps}/b`),
      { get: "a" },
      { get: "b" },
      { delete: "a" },
      { delete: "b" },
    ],
  },
  {
    name: "rights to names of roles",
    at: roles,
    steps: [
      ...grant("named", [
        {
          apiGroups: [group],
          resources: ["roles", "rolebindings"],
          verbs: ["create", "update", "patch", "get"],
        },
        {
          apiGroups: [group],
          resources: ["roles"],
          resourceNames: ["one", "two", "three"],
          verbs: ["escalate"],
        },
        { apiGroups: [group], resources: ["roles"], resourceNames: ["one"], verbs: ["bind"] },
      ]),
      ...grant("free", [
        { apiGroups: [group], resources: ["roles"], verbs: ["create", "update", "patch", "get", "escalate"] },
      ]),
      { settleMs: 1_500 },
      as("named", "POST", roles, role("one")),
      as("free", "POST", roles, role("one")),
      as(
        "named",
        "PATCH",
        `${roles}/one`,
        { rules: [...secrets, { ...secrets[0], verbs: ["*"] }] } as JsonObject,
        "merge",
      ),
      as("named", "PATCH", `${roles}/two`, role("two"), "apply"),
      as("named", "PATCH", `${roles}/four`, role("four"), "apply"),
      as("named", "PUT", `${roles}/three`, role("three")),
      as("named", "PUT", `${roles}/five`, role("five")),
      as("named", "POST", `${rbac}/namespaces/{ns}/rolebindings`, binding("one", "one")),
      as("named", "POST", `${rbac}/namespaces/{ns}/rolebindings`, binding("two", "two")),
      ...["one", "two", "three", "four", "five"].map((name) => ({ delete: name })),
    ],
  },
];
