import type { Behaviour } from "./hook-server.ts";
import type { Sending } from "./servers.ts";

/**
 * One webhook and what is sent past it. Requests are about objects labelled with the case's name.
 */
export interface Case {
  readonly name: string;
  readonly kind: "mutating" | "validating";
  readonly webhook?: Record<string, unknown>;
  readonly behaviour: Behaviour;
  readonly sendings?: (at: FieldLocation) => readonly Sending[];
}

export interface FieldLocation {
  readonly namespace: string;
  readonly labels: { readonly case: string };
  readonly name: string;
}

const allow: Behaviour = () => ({ response: { allowed: true } });

function patch(operations: unknown, extra: object = {}): Behaviour {
  const text = typeof operations === "string" ? operations : JSON.stringify(operations);
  return () => ({
    response: {
      allowed: true,
      patchType: "JSONPatch",
      patch: Buffer.from(text).toString("base64"),
      ...extra,
    },
  });
}

const maps = (at: FieldLocation) => `/api/v1/namespaces/${at.namespace}/configmaps`;

function configMap(at: FieldLocation, extra: object = {}): object {
  return { metadata: { name: at.name, labels: at.labels }, data: { a: "1" }, ...extra };
}

const create = (at: FieldLocation): readonly Sending[] => [
  { method: "POST", path: maps(at), body: configMap(at) },
];

export const defaultSendings = create;

const wholeLife = (at: FieldLocation): readonly Sending[] => [
  { method: "POST", path: `${maps(at)}?fieldManager=me&fieldValidation=Strict`, body: configMap(at) },
  { method: "PUT", path: `${maps(at)}/${at.name}`, body: configMap(at, { data: { a: "2" } }) },
  {
    method: "PATCH",
    path: `${maps(at)}/${at.name}`,
    contentType: "application/merge-patch+json",
    body: { data: { a: "3" } },
  },
  {
    method: "PATCH",
    path: `${maps(at)}/${at.name}?fieldManager=you&force=true`,
    contentType: "application/apply-patch+yaml",
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: at.name, labels: at.labels },
      data: { a: "4" },
    },
  },
  { method: "DELETE", path: `${maps(at)}/${at.name}?dryRun=All` },
  {
    method: "DELETE",
    path: `${maps(at)}/${at.name}`,
    body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" },
  },
];

/** The group of a kind with the versions v1 and v2, which differ in nothing else. */
export const thingGroup = `things-${process.pid}.example.com`;

function thingRule(version: string): object {
  return { apiGroups: [thingGroup], apiVersions: [version], resources: ["things"], operations: ["*"] };
}

const things = (at: FieldLocation): readonly Sending[] => {
  const path = `/apis/${thingGroup}/v2/namespaces/${at.namespace}/things`;
  const body = {
    apiVersion: `${thingGroup}/v2`,
    kind: "Thing",
    metadata: { name: at.name, labels: at.labels },
    spec: { a: "1" },
  };
  return [
    { method: "POST", path, body },
    {
      method: "PATCH",
      path: `${path}/${at.name}`,
      contentType: "application/merge-patch+json",
      body: { spec: { a: "2" } },
    },
    { method: "DELETE", path: `${path}/${at.name}` },
  ];
};

export const cases: readonly Case[] = [
  { name: "sees-all", kind: "validating", behaviour: allow, sendings: wholeLife },
  { name: "sees-all-first", kind: "mutating", behaviour: allow, sendings: wholeLife },
  {
    name: "generated",
    kind: "validating",
    behaviour: () => ({ response: { allowed: false, status: { message: "not this one" } } }),
    sendings: (at) => [
      { method: "POST", path: maps(at), body: { metadata: { generateName: "gen-", labels: at.labels } } },
    ],
  },
  {
    name: "generated-first",
    kind: "mutating",
    behaviour: () => ({ response: { allowed: false, status: { message: "not this one" } } }),
    sendings: (at) => [
      { method: "POST", path: maps(at), body: { metadata: { generateName: "gen-", labels: at.labels } } },
    ],
  },
  { name: "no", kind: "validating", behaviour: () => ({ response: { allowed: false } }) },
  {
    name: "no-message",
    kind: "validating",
    behaviour: () => ({ response: { allowed: false, status: { message: "x" } } }),
  },
  {
    name: "no-reason",
    kind: "validating",
    behaviour: () => ({ response: { allowed: false, status: { reason: "Teapot", code: 418 } } }),
  },
  {
    name: "no-whole",
    kind: "mutating",
    behaviour: () => ({
      response: {
        allowed: false,
        warnings: ["mind the gap", 'and the "quotes"'],
        status: {
          code: 409,
          reason: "Conflict",
          message: "taken",
          details: {
            name: "n",
            kind: "k",
            causes: [{ reason: "FieldValueInvalid", message: "m", field: "f" }],
          },
        },
      },
    }),
  },
  {
    name: "no-low-code",
    kind: "validating",
    behaviour: () => ({
      response: { allowed: false, status: { code: 200, status: "Success", message: "odd" } },
    }),
  },
  {
    name: "warns",
    kind: "validating",
    behaviour: () => ({ response: { allowed: true, warnings: ["careful", "careful", "twice\nlines"] } }),
  },
  {
    name: "absent",
    kind: "validating",
    behaviour: () => ({
      status: 200,
      type: "application/json",
      text: '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
    }),
  },
  { name: "wrong-uid", kind: "validating", behaviour: () => ({ response: { uid: "other", allowed: true } }) },
  {
    name: "wrong-version",
    kind: "validating",
    behaviour: (review) => ({
      status: 200,
      type: "application/json",
      text: JSON.stringify({
        kind: "AdmissionReview",
        apiVersion: "admission.k8s.io/v1beta1",
        response: { uid: review.request.uid, allowed: true },
      }),
    }),
  },
  { name: "garbage", kind: "validating", behaviour: () => ({ status: 200, text: "garbage" }) },
  { name: "garbage-json", kind: "validating", behaviour: () => ({ status: 200, text: '"text"' }) },
  { name: "garbage-cut", kind: "validating", behaviour: () => ({ status: 200, text: '{"a":' }) },
  { name: "no-kind", kind: "validating", behaviour: () => ({ status: 200, text: "{}" }) },
  {
    name: "no-kind-but-response",
    kind: "validating",
    behaviour: (review) => ({
      status: 200,
      text: JSON.stringify({ response: { uid: review.request.uid, allowed: true } }),
    }),
  },
  {
    name: "other-kind",
    kind: "validating",
    behaviour: () => ({ status: 200, text: '{"kind":"Pod","apiVersion":"v1"}' }),
  },
  {
    name: "yaml",
    kind: "validating",
    behaviour: (review) => ({
      status: 200,
      text: `kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse:\n  uid: ${review.request.uid}\n  allowed: true\n`,
    }),
  },
  {
    name: "allowed-text",
    kind: "validating",
    behaviour: () => ({ response: { allowed: "yes" } }),
  },
  { name: "empty", kind: "validating", behaviour: () => ({ status: 200, text: "" }) },
  { name: "status-500", kind: "validating", behaviour: () => ({ status: 500, text: "boom" }) },
  {
    name: "status-500-json",
    kind: "validating",
    behaviour: () => ({ status: 500, type: "application/json", text: '"boom"' }),
  },
  { name: "status-404", kind: "validating", behaviour: () => ({ status: 404, text: "boom" }) },
  { name: "status-400", kind: "validating", behaviour: () => ({ status: 400, text: "boom" }) },
  { name: "status-403", kind: "validating", behaviour: () => ({ status: 403, text: "boom" }) },
  { name: "status-503", kind: "validating", behaviour: () => ({ status: 503, text: "boom" }) },
  { name: "status-418", kind: "validating", behaviour: () => ({ status: 418, text: "boom" }) },
  { name: "status-301", kind: "validating", behaviour: () => ({ status: 304, text: "" }) },
  {
    name: "status-object",
    kind: "validating",
    behaviour: () => ({
      status: 500,
      type: "application/json",
      text: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"said so","code":500}',
    }),
  },
  { name: "cut", kind: "validating", behaviour: () => "cut" },
  { name: "hang", kind: "validating", webhook: { timeoutSeconds: 1 }, behaviour: () => "hang" },
  {
    name: "hang-ignored",
    kind: "validating",
    webhook: { timeoutSeconds: 1, failurePolicy: "Ignore" },
    behaviour: () => "hang",
  },
  {
    name: "ignored",
    kind: "mutating",
    webhook: { failurePolicy: "Ignore" },
    behaviour: () => ({ status: 500, text: "boom" }),
  },
  {
    name: "refused",
    kind: "validating",
    webhook: { clientConfig: { url: "https://198.18.254.1:9/refused" } },
    behaviour: allow,
  },
  {
    name: "untrusted",
    kind: "validating",
    webhook: { clientConfig: { url: "HOOKS/untrusted" } },
    behaviour: allow,
  },
  {
    name: "no-service",
    kind: "validating",
    webhook: { clientConfig: { service: { namespace: "NAMESPACE", name: "nothere", path: "/x" } } },
    behaviour: allow,
  },
  {
    name: "no-service-port",
    kind: "validating",
    webhook: {
      clientConfig: { service: { namespace: "default", name: "kubernetes", path: "/x", port: 444 } },
    },
    behaviour: allow,
  },
  {
    name: "patches",
    kind: "mutating",
    behaviour: patch([
      { op: "add", path: "/data/b", value: "2" },
      { op: "add", path: "/metadata/annotations", value: { by: "hook" } },
      { op: "add", path: "/unknown", value: true },
    ]),
    sendings: wholeLife,
  },
  {
    name: "patch-rename",
    kind: "mutating",
    behaviour: patch([{ op: "replace", path: "/metadata/name", value: "renamed" }]),
  },
  { name: "patch-nothing", kind: "mutating", behaviour: patch([]) },
  { name: "patch-null", kind: "mutating", behaviour: patch("null") },
  {
    name: "patch-missing",
    kind: "mutating",
    behaviour: patch([{ op: "add", path: "/spec/deep/er", value: 1 }]),
  },
  { name: "patch-remove", kind: "mutating", behaviour: patch([{ op: "remove", path: "/data/zzz" }]) },
  { name: "patch-remove-deep", kind: "mutating", behaviour: patch([{ op: "remove", path: "/no/zzz" }]) },
  {
    name: "patch-replace",
    kind: "mutating",
    behaviour: patch([{ op: "replace", path: "/data/zzz", value: "x" }]),
  },
  { name: "patch-test", kind: "mutating", behaviour: patch([{ op: "test", path: "/data/a", value: "9" }]) },
  {
    name: "patch-move",
    kind: "mutating",
    behaviour: patch([{ op: "move", from: "/data/q", path: "/data/r" }]),
  },
  {
    name: "patch-copy",
    kind: "mutating",
    behaviour: patch([{ op: "copy", from: "/nope/q", path: "/data/r" }]),
  },
  { name: "patch-odd", kind: "mutating", behaviour: patch([{ op: "dance", path: "/data" }]) },
  { name: "patch-bad-json", kind: "mutating", behaviour: patch("not json") },
  { name: "patch-object", kind: "mutating", behaviour: patch({ op: "add" }) },
  { name: "patch-type", kind: "mutating", behaviour: patch([{ op: "add", path: "/data/b", value: 7 }]) },
  { name: "patch-kind", kind: "mutating", behaviour: patch([{ op: "remove", path: "/kind" }]) },
  {
    name: "patch-no-type",
    kind: "mutating",
    behaviour: patch([{ op: "add", path: "/data/b", value: "2" }], { patchType: null }),
  },
  {
    name: "patch-other-type",
    kind: "mutating",
    behaviour: patch([{ op: "add", path: "/data/b", value: "2" }], { patchType: "Merge" }),
  },
  {
    name: "patch-type-only",
    kind: "mutating",
    behaviour: () => ({ response: { allowed: true, patchType: "JSONPatch" } }),
  },
  {
    name: "validating-patch",
    kind: "validating",
    behaviour: patch([{ op: "add", path: "/data/b", value: "2" }]),
  },
  {
    name: "patch-delete",
    kind: "mutating",
    behaviour: (review) =>
      review.request.object === null
        ? patch([{ op: "add", path: "/data/b", value: "2" }])(review)
        : { response: { allowed: true } },
    sendings: (at) => [...create(at), { method: "DELETE", path: `${maps(at)}/${at.name}` }],
  },
  {
    name: "dry",
    kind: "validating",
    webhook: { sideEffects: "NoneOnDryRun" },
    behaviour: allow,
    sendings: (at) => [{ method: "POST", path: `${maps(at)}?dryRun=All`, body: configMap(at) }],
  },
  {
    name: "condition-true",
    kind: "validating",
    webhook: {
      matchConditions: [{ name: "c", expression: "object.data.a == '1' && request.operation == 'CREATE'" }],
    },
    behaviour: () => ({ response: { allowed: false } }),
  },
  {
    name: "condition-false",
    kind: "validating",
    webhook: { matchConditions: [{ name: "c", expression: "object.data.a == '2'" }] },
    behaviour: () => ({ response: { allowed: false } }),
  },
  {
    name: "condition-fails",
    kind: "validating",
    webhook: { matchConditions: [{ name: "c", expression: "object.data.zzz == '2'" }] },
    behaviour: allow,
  },
  {
    name: "condition-two-fail",
    kind: "mutating",
    webhook: {
      matchConditions: [
        { name: "c", expression: "object.data.zzz == '2'" },
        { name: "d", expression: "oldObject.data.yyy == '2'" },
      ],
    },
    behaviour: allow,
  },
  {
    name: "condition-fails-ignored",
    kind: "validating",
    webhook: {
      failurePolicy: "Ignore",
      matchConditions: [{ name: "c", expression: "object.data.zzz == '2'" }],
    },
    behaviour: () => ({ response: { allowed: false } }),
  },
  {
    name: "condition-asks",
    kind: "validating",
    webhook: {
      matchConditions: [
        {
          name: "c",
          expression: "authorizer.group('').resource('pods').namespace('default').check('list').allowed()",
        },
        { name: "d", expression: "authorizer.requestResource.check('create').allowed()" },
      ],
    },
    behaviour: () => ({ response: { allowed: false } }),
  },
  {
    name: "old-review",
    kind: "validating",
    webhook: { admissionReviewVersions: ["v2", "v1beta1", "v1"] },
    behaviour: allow,
  },
  {
    name: "equivalent",
    kind: "validating",
    webhook: { rules: [thingRule("v1")] },
    behaviour: allow,
    sendings: things,
  },
  {
    name: "equivalent-first",
    kind: "mutating",
    webhook: { rules: [thingRule("v1")] },
    behaviour: patch([{ op: "add", path: "/spec/b", value: "2" }]),
    sendings: things,
  },
  {
    name: "exact",
    kind: "validating",
    webhook: { rules: [thingRule("v1")], matchPolicy: "Exact" },
    behaviour: () => ({ response: { allowed: false } }),
    sendings: things,
  },
  {
    name: "collection",
    kind: "validating",
    behaviour: allow,
    sendings: (at) => [
      ...create(at),
      { method: "DELETE", path: `${maps(at)}?labelSelector=case%3D${at.name}` },
    ],
  },
  {
    name: "scaled",
    kind: "validating",
    webhook: {
      objectSelector: {},
      rules: [
        { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"], operations: ["*"] },
      ],
    },
    behaviour: allow,
    sendings: (at) => [
      {
        method: "POST",
        path: `/apis/apps/v1/namespaces/${at.namespace}/deployments`,
        body: {
          metadata: { name: at.name },
          spec: {
            replicas: 0,
            selector: { matchLabels: { a: "b" } },
            template: {
              metadata: { labels: { a: "b" } },
              spec: { containers: [{ name: "c", image: "pause:1" }] },
            },
          },
        },
      },
      {
        method: "PATCH",
        path: `/apis/apps/v1/namespaces/${at.namespace}/deployments/${at.name}/scale`,
        contentType: "application/merge-patch+json",
        body: { spec: { replicas: 1 } },
      },
    ],
  },
];
