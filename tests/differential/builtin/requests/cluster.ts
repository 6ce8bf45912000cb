import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { but, patches, type Story, variants } from "../story.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const hook: JsonObject = {
  name: "a.example.com",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { service: { name: "s", namespace: "none" } },
  rules: [{ apiGroups: ["none.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] }],
};
const hooks: JsonObject = { webhooks: [hook] };
const policy: JsonObject = {
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ["none.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] },
      ],
    },
    validations: [{ expression: "true" }],
  },
};

const hookVariants = (kind: "mutating" | "validating") =>
  variants(hooks, [
    { webhooks: [] },
    { webhooks: undefined },
    { webhooks: [hook, hook] },
    { "webhooks.0.name": "short" },
    { "webhooks.0.name": undefined },
    { "webhooks.0.sideEffects": undefined },
    { "webhooks.0.sideEffects": "Some" },
    { "webhooks.0.admissionReviewVersions": undefined },
    { "webhooks.0.admissionReviewVersions": ["v2"] },
    { "webhooks.0.admissionReviewVersions": ["v1", "v1"] },
    { "webhooks.0.clientConfig": {} },
    { "webhooks.0.clientConfig": { url: "http://x" } },
    { "webhooks.0.clientConfig": { url: "https://x/y", service: { name: "s", namespace: "n" } } },
    { "webhooks.0.clientConfig": { service: { name: "", namespace: "" } } },
    { "webhooks.0.clientConfig": { service: { name: "s", namespace: "n", port: 0, path: "x" } } },
    { "webhooks.0.clientConfig": { url: "https://x", caBundle: "bm9wZQ==" } },
    { "webhooks.0.failurePolicy": "Nope" },
    {
      "webhooks.0.failurePolicy": "Ignore",
      "webhooks.0.matchPolicy": "Exact",
      "webhooks.0.timeoutSeconds": 3,
    },
    { "webhooks.0.matchPolicy": "Nope" },
    { "webhooks.0.timeoutSeconds": 0 },
    { "webhooks.0.timeoutSeconds": 31 },
    { "webhooks.0.rules.0.operations": ["Nope"] },
    { "webhooks.0.rules.0.operations": [] },
    { "webhooks.0.rules.0.operations": ["*", "CREATE"] },
    { "webhooks.0.rules.0.apiGroups": [] },
    { "webhooks.0.rules.0.apiGroups": ["*", "a"] },
    { "webhooks.0.rules.0.apiVersions": [""] },
    { "webhooks.0.rules.0.resources": ["*", "a"] },
    { "webhooks.0.rules.0.resources": ["a/b", "a/*"] },
    { "webhooks.0.rules.0.resources": [""] },
    { "webhooks.0.rules.0.scope": "Nope" },
    { "webhooks.0.namespaceSelector": { matchExpressions: [{ key: "a", operator: "In" }] } },
    { "webhooks.0.matchConditions": [{ name: "c", expression: "true" }] },
    { "webhooks.0.matchConditions": [{ name: "bad name", expression: "" }] },
    ...(kind === "mutating"
      ? [{ "webhooks.0.reinvocationPolicy": "Nope" }, { "webhooks.0.reinvocationPolicy": "IfNeeded" }]
      : []),
  ]);

export const cluster: Story[] = [
  {
    name: "validatingwebhookconfiguration",
    at: `${admission}/validatingwebhookconfigurations`,
    steps: [
      { post: but(hooks, { "metadata.name": "{ns}-w" }) },
      ...hookVariants("validating"),
      ...patches("{ns}-w", [
        { metadata: { labels: { a: "b" } } },
        { webhooks: [{ ...hook, timeoutSeconds: 5 }] },
        { webhooks: [{ ...hook, sideEffects: null }] },
      ]),
      { put: but(hooks, { "metadata.name": "{ns}-w" }), name: "{ns}-w" },
      { delete: "{ns}-w" },
    ],
  },
  {
    name: "mutatingwebhookconfiguration",
    at: `${admission}/mutatingwebhookconfigurations`,
    steps: [
      { post: but(hooks, { "metadata.name": "{ns}-w" }) },
      ...hookVariants("mutating"),
      ...patches("{ns}-w", [{ webhooks: [{ ...hook, reinvocationPolicy: "IfNeeded" }] }]),
      { delete: "{ns}-w" },
    ],
  },
  {
    name: "validatingadmissionpolicy",
    at: `${admission}/validatingadmissionpolicies`,
    steps: [
      { post: but(policy, { "metadata.name": "{ns}-p" }) },
      { post: {} },
      ...variants(policy, [
        { "spec.validations": undefined },
        { "spec.validations": [{}] },
        { "spec.validations": [{ expression: "1 +" }] },
        { "spec.validations": [{ expression: "true", reason: "Nope" }] },
        { "spec.validations": [{ expression: "true", reason: "Forbidden", message: "m" }] },
        { "spec.failurePolicy": "Nope" },
        { "spec.failurePolicy": "Ignore" },
        { "spec.paramKind": {} },
        { "spec.paramKind": { apiVersion: "v1", kind: "ConfigMap" } },
        { "spec.matchConstraints": undefined },
        { "spec.matchConstraints": {} },
        { "spec.auditAnnotations": [{ key: "k", valueExpression: "'x'" }] },
        { "spec.auditAnnotations": [{ key: "bad key", valueExpression: "" }] },
        { "spec.variables": [{ name: "v", expression: "1" }] },
        { "spec.variables": [{ name: "1v", expression: "" }] },
        { "spec.matchConditions": [{ name: "c", expression: "true" }] },
      ]),
      ...patches("{ns}-p", [
        { spec: { failurePolicy: "Ignore" } },
        { metadata: { labels: { a: "b" } } },
        { spec: { validations: [] } },
      ]),
      ...patches(
        "{ns}-p",
        [
          { status: { observedGeneration: 1 } },
          { status: { conditions: [{ type: "Bad Type", status: "x" }] } },
        ],
        "status",
      ),
      { delete: "{ns}-p" },
    ],
  },
  {
    name: "validatingadmissionpolicybinding",
    at: `${admission}/validatingadmissionpolicybindings`,
    steps: [
      { post: { metadata: { name: "{ns}-b" }, spec: { policyName: "none", validationActions: ["Deny"] } } },
      { post: {} },
      { post: { spec: { policyName: "none" } } },
      { post: { spec: { policyName: "none", validationActions: ["Nope"] } } },
      { post: { spec: { policyName: "none", validationActions: ["Deny", "Deny"] } } },
      { post: { spec: { policyName: "none", validationActions: ["Deny", "Warn"] } } },
      { post: { spec: { policyName: "none", validationActions: ["Audit"], paramRef: { name: "x" } } } },
      {
        post: {
          spec: {
            policyName: "none",
            validationActions: ["Audit"],
            paramRef: { parameterNotFoundAction: "Allow" },
          },
        },
      },
      {
        post: {
          spec: {
            policyName: "none",
            validationActions: ["Audit"],
            paramRef: { name: "x", selector: {}, parameterNotFoundAction: "Nope" },
          },
        },
      },
      {
        post: {
          spec: {
            policyName: "none",
            validationActions: ["Audit"],
            matchResources: { namespaceSelector: { matchLabels: { a: "b" } } },
          },
        },
      },
      ...patches("{ns}-b", [{ spec: { validationActions: ["Audit"] } }]),
      { delete: "{ns}-b" },
    ],
  },
  {
    name: "apiservice",
    at: "/apis/apiregistration.k8s.io/v1/apiservices",
    steps: [
      {
        post: {
          metadata: { name: "v1.{ns}.example.com" },
          spec: {
            group: "{ns}.example.com",
            version: "v1",
            groupPriorityMinimum: 100,
            versionPriority: 10,
            service: { name: "s", namespace: "none" },
            insecureSkipTLSVerify: true,
          },
        },
      },
      { post: {} },
      {
        post: {
          metadata: { name: "v1.wrong" },
          spec: { group: "x.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
        },
      },
      {
        post: {
          metadata: { name: "v1.x.example.com" },
          spec: {
            group: "x.example.com",
            version: "v1",
            groupPriorityMinimum: 0,
            versionPriority: 0,
            service: { name: "", namespace: "" },
            insecureSkipTLSVerify: true,
            caBundle: "bm9wZQ==",
          },
        },
      },
      ...patches("v1.{ns}.example.com", [{ spec: { group: "other" } }]),
      { delete: "v1.{ns}.example.com" },
    ],
  },
  {
    name: "node",
    at: "/api/v1/nodes",
    steps: [
      { post: { metadata: { name: "{ns}-n" } } },
      { post: { metadata: { name: "Bad_Name" } } },
      { post: { spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"], providerID: "x" } } },
      { post: { spec: { podCIDR: "nope" } } },
      {
        post: {
          spec: {
            taints: [
              { key: "a", effect: "NoSchedule" },
              { key: "a", effect: "NoSchedule" },
            ],
          },
        },
      },
      { post: { spec: { taints: [{ key: "bad key", effect: "Nope", value: "bad value" }] } } },
      { post: { spec: { taints: [{ effect: "NoSchedule" }] } } },
      { post: { spec: { unschedulable: true } } },
      {
        post: { status: { capacity: { cpu: "1" }, addresses: [{ type: "InternalIP", address: "1.2.3.4" }] } },
      },
      { post: { status: { capacity: { "bad name": "1" } } } },
      ...patches("{ns}-n", [
        { spec: { unschedulable: true } },
        { spec: { taints: [{ key: "x", effect: "NoExecute" }] } },
        { spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] } },
        { spec: { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24"] } },
        { spec: { providerID: "p" } },
        { spec: { providerID: "q" } },
        { metadata: { labels: { a: "b" } } },
        { status: { capacity: { cpu: "9" } } },
      ]),
      ...patches(
        "{ns}-n",
        [
          { status: { capacity: { cpu: "4" }, conditions: [{ type: "Ready", status: "True" }] } },
          { metadata: { labels: { s: "t" } }, spec: { unschedulable: false } },
          {
            status: {
              addresses: [
                { type: "Hostname", address: "a" },
                { type: "Hostname", address: "a" },
              ],
            },
          },
        ],
        "status",
      ),
      { delete: "{ns}-n" },
    ],
  },
];
