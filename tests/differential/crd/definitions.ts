/**
 * CRDs that are wrong in one way each, and some that are right: both servers are asked to create
 * them (dry run).
 *
 *   KUBECONFIG=… node tests/differential/crd/definitions.ts
 */
import { defaultCrd, initialCrdStatus } from "../../../packages/control-plane/src/crd/defaults.ts";
import { prepareCrd } from "../../../packages/control-plane/src/crd/rule-review.ts";
import { validateCrd } from "../../../packages/control-plane/src/crd/validate.ts";
import { clone, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { Patterns } from "../../../packages/control-plane/src/patterns/index.ts";
import type { Cause } from "../../../packages/control-plane/src/status.ts";
import { finish } from "../../../packages/control-plane/src/steps.ts";
import { conclude } from "../tally.ts";
import { Cluster, CRDS } from "./cluster.ts";

const GROUP = "definitions.schema-check.dev";

const BASE: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
      },
    ],
  },
};

/** A CRD with something else at a dotted path; undefined removes what is there. */
function changed(path: string, value: Json | undefined, base: JsonObject = BASE): JsonObject {
  const copy = clone(base);
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  let at = copy;
  for (const step of steps.slice(0, -1)) at = at[step] as JsonObject;
  const last = steps.at(-1) as string;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const ROOT = "spec.versions[0].schema.openAPIV3Schema";
const spec = (schema: Json): JsonObject => changed(`${ROOT}.properties.spec`, schema);
const root = (schema: Json): JsonObject => changed(ROOT, schema);
const field = (schema: Json): JsonObject => spec({ type: "object", properties: { f: schema } });
const version = (extra: JsonObject): JsonObject =>
  changed("spec.versions[0]", { ...((BASE.spec as JsonObject).versions as JsonObject[])[0], ...extra });
const second = (extra: JsonObject): JsonObject => {
  const [first] = (BASE.spec as JsonObject).versions as JsonObject[];
  return changed("spec.versions", [first as Json, { ...first, name: "v2", storage: false, ...extra }]);
};
const rule = (extra: JsonObject, schema: JsonObject = { type: "string" }): JsonObject =>
  field({ ...schema, "x-kubernetes-validations": [extra] });
const listOf = (extra: JsonObject): JsonObject =>
  field({ type: "array", items: { type: "string" }, ...extra });
const item = (extra: JsonObject, listExtra: JsonObject = {}): JsonObject =>
  field({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "object", required: ["k"], properties: { k: { type: "string" } }, ...extra },
    ...listExtra,
  });

const DEFINITIONS: readonly JsonObject[] = [
  BASE,
  changed("metadata.name", "other.example.com"),
  changed("spec.group", "nodot"),
  changed("spec.group", "Bad_Group.x"),
  changed("spec.group", ""),
  changed("spec.scope", ""),
  changed("spec.scope", "World"),
  changed("spec.names.kind", "bad kind"),
  changed("spec.names.kind", ""),
  changed("spec.names.listKind", "Thing"),
  changed("spec.names.shortNames", ["ok", "Not-ok"]),
  changed("spec.names.categories", ["All"]),
  changed("spec.names.singular", "Bad"),
  changed("spec.versions", []),
  changed("spec.versions[0].storage", false),
  changed("spec.versions[0].name", "V1"),
  changed("spec.versions[0].schema", undefined),
  second({}),
  second({ storage: true }),
  second({ name: "v1" }),
  second({ schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } }),
  second({ additionalPrinterColumns: [{ name: "", type: "wrong", jsonPath: "x" }] }),
  second({
    subresources: { scale: { specReplicasPath: ".x", statusReplicasPath: "", labelSelectorPath: ".a.b" } },
  }),
  second({
    schema: { openAPIV3Schema: { type: "object", properties: { a: { type: "string", default: 1 } } } },
  }),
  changed("spec.preserveUnknownFields", true),
  changed("spec.conversion", { strategy: "Webhook" }),
  changed("spec.conversion", { strategy: "Nope" }),
  changed("spec.conversion", { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } }),
  changed("spec.conversion", {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v2"], clientConfig: {} },
  }),
  changed("spec.conversion", {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1", "v1"], clientConfig: { url: "http://x.y/z?q#f" } },
  }),
  changed("spec.conversion", {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: { service: { name: "", namespace: "", path: "x", port: 0 } },
    },
  }),
  version({ deprecationWarning: "x" }),
  version({ deprecated: true, deprecationWarning: "" }),
  version({ deprecated: true, deprecationWarning: "bad\u0001" }),
  version({ additionalPrinterColumns: [{ name: "", type: "wrong", format: "zz", jsonPath: "x" }] }),
  version({ additionalPrinterColumns: [{ name: "a", type: "", jsonPath: "" }] }),
  version({ subresources: { scale: { specReplicasPath: "spec.x", statusReplicasPath: ".spec.x" } } }),
  version({
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: "object", minProperties: 1 } },
  }),
  version({
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: "object",
        maxProperties: 9,
        anyOf: [{ required: ["b"] }],
        properties: {
          b: {
            type: "array",
            items: { type: "string", enum: ["<a>", "b"], default: "b" },
            "x-kubernetes-list-type": "set",
            externalDocs: { url: "https://example.com", description: "more" },
          },
          a: {
            type: "object",
            additionalProperties: { "x-kubernetes-int-or-string": true },
            "x-kubernetes-validations": [
              { rule: "self.size() < 3", optionalOldSelf: true, reason: "FieldValueInvalid" },
            ],
          },
          c: { type: "object", not: { required: ["x"] }, additionalProperties: true, nullable: true },
          d: { type: "number", minimum: 1.5, multipleOf: 2, example: { z: 1, y: null } },
        },
      },
    },
  }),
  version({
    selectableFields: [{ jsonPath: ".spec" }, { jsonPath: "" }, { jsonPath: "spec" }, { jsonPath: ".nope" }],
  }),
  version({
    selectableFields: [{ jsonPath: ".metadata.name" }, { jsonPath: ".spec['a']" }],
  }),
  version({
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: Object.fromEntries("abcdefghij".split("").map((name) => [name, { type: "string" }])),
      },
    },
    selectableFields: [..."abcdefghij".split(""), "a"].map((name) => ({ jsonPath: `.${name}` })),
  }),
  // Structural rules
  root({ properties: {} }),
  root({ type: "string" }),
  root({ type: "object", nullable: true }),
  root({ type: "object", additionalProperties: { type: "string" } }),
  root({
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  }),
  root({
    type: "object",
    properties: { metadata: { type: "object", properties: { name: { type: "string", pattern: "^a" } } } },
  }),
  root({ type: "object", properties: { metadata: { type: "object", description: "x" } } }),
  root({ type: "object", properties: { metadata: { type: "string" } } }),
  root({ type: "object", properties: { kind: { type: "integer" }, apiVersion: { type: "object" } } }),
  root({ type: "object", properties: { kind: { type: "string", default: "x" } } }),
  root({
    type: "object",
    properties: { metadata: { type: "object", properties: { name: { type: "string", default: "x" } } } },
  }),
  field({}),
  field({ type: "array" }),
  field({ type: "array", items: {} }),
  field({ type: "array", items: [{ type: "string" }] }),
  field({ type: "null" }),
  field({ type: "any" }),
  field({ type: "string", pattern: "(?=x)" }),
  field({ type: "string", pattern: "[" }),
  field({ type: "string", pattern: "a**" }),
  field({ type: "string", pattern: "*" }),
  field({ type: "string", pattern: "(a" }),
  field({ type: "string", pattern: "\\" }),
  field({ type: "string", pattern: "a{2,1}" }),
  field({ type: "string", pattern: "[z-a]" }),
  field({ type: "string", pattern: "\\1" }),
  field({ type: "object", $ref: "#/definitions/x" }),
  field({ type: "object", definitions: { a: { type: "string" } } }),
  field({ type: "object", dependencies: { a: ["b"] } }),
  field({ type: "object", patternProperties: { a: { type: "string" } } }),
  field({ type: "array", items: { type: "string" }, additionalItems: true }),
  field({ type: "string", id: "x" }),
  field({ type: "array", uniqueItems: true, items: { type: "string" } }),
  field({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
  field({ type: "object", properties: { a: { type: "string" } }, additionalProperties: false }),
  field({ type: "object", properties: { a: { type: "string" } }, additionalProperties: true }),
  field({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  field({ "x-kubernetes-preserve-unknown-fields": true }),
  field({ "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true }),
  field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }),
  field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "string" }, { type: "integer" }] }),
  field({
    "x-kubernetes-int-or-string": true,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "x" }],
  }),
  field({ type: "object", "x-kubernetes-embedded-resource": true }),
  field({
    type: "string",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }),
  field({ type: "object", "x-kubernetes-embedded-resource": true, additionalProperties: { type: "string" } }),
  field({ type: "object", oneOf: [{ required: ["a"] }] }),
  field({ type: "object", oneOf: [{ properties: { a: { minLength: 1 } } }] }),
  field({
    type: "object",
    properties: { a: { type: "string" } },
    anyOf: [{ properties: { a: { type: "string", default: "x", description: "d", nullable: true } } }],
  }),
  field({ type: "object", allOf: [{ additionalProperties: { type: "string" } }] }),
  field({ type: "object", not: { title: "x", "x-kubernetes-map-type": "atomic" } }),
  field({ type: "array", items: { type: "string" }, allOf: [{ items: { minLength: 1 } }] }),
  field({ type: "string", allOf: [{ items: { minLength: 1 } }] }),
  field({
    type: "object",
    properties: { metadata: { type: "object" } },
    anyOf: [{ properties: { metadata: { required: ["x"] } } }],
  }),
  field({ type: "object", anyOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }] }),
  // List and map types
  listOf({ "x-kubernetes-list-type": "bogus" }),
  listOf({ "x-kubernetes-list-type": "map" }),
  listOf({ "x-kubernetes-list-map-keys": ["a"] }),
  listOf({ "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"] }),
  listOf({ "x-kubernetes-list-type": "set", items: { type: "object" } }),
  listOf({ "x-kubernetes-list-type": "set", items: { type: "string", nullable: true } }),
  listOf({
    "x-kubernetes-list-type": "set",
    items: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  }),
  field({ type: "string", "x-kubernetes-list-type": "atomic" }),
  field({ "x-kubernetes-list-type": "atomic", "x-kubernetes-preserve-unknown-fields": true }),
  field({ type: "array", items: { type: "string" }, "x-kubernetes-map-type": "atomic" }),
  field({ type: "object", "x-kubernetes-map-type": "bogus" }),
  item({}),
  item({ required: [] }),
  item({ required: [], properties: { k: { type: "string", default: "x" } } }),
  item({ properties: { k: { type: "string", nullable: true } } }),
  item({ properties: { k: { type: "object" } } }),
  item({ properties: { other: { type: "string" } } }),
  item({}, { "x-kubernetes-list-map-keys": ["k", "k"] }),
  item({ nullable: true }),
  // Defaults
  field({ type: "string", default: 1 }),
  field({ type: "string", default: "x", maxLength: 0 }),
  field({ type: "integer", default: 1.5 }),
  field({ type: "object", default: { a: 1 } }),
  field({ type: "object", default: { a: 1 }, properties: { a: { type: "string" } } }),
  field({ type: "object", default: {}, required: ["a"], properties: { a: { type: "string" } } }),
  field({ type: "array", default: ["a", 1], items: { type: "string" } }),
  field({ type: "string", default: "b", enum: ["a"] }),
  field({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    default: { kind: "A" },
  }),
  field({ type: "object", additionalProperties: { type: "string", default: "x" } }),
  field({ type: "string", default: null }),
  field({ type: "string", default: null, nullable: true }),
  // Rules
  rule({ rule: "" }),
  rule({ rule: "self == 'x'", message: " " }),
  rule({ rule: "self == 'x'", message: "a\nb" }),
  rule({ rule: "self ==\n'x'" }),
  rule({ rule: "self == 'x'", messageExpression: " " }),
  rule({ rule: "self == 'x'", messageExpression: "1" }),
  rule({ rule: "self == 'x'", messageExpression: "self.foo" }),
  rule({ rule: "self == 'x'", messageExpression: "string(self)" }),
  rule({ rule: "self == 'x'", reason: "Nope" }),
  rule({ rule: "self == 'x'", fieldPath: ".foo" }),
  rule({ rule: "self == 'x'", fieldPath: "foo" }),
  rule({ rule: "self == 'x'", fieldPath: " " }),
  rule({ rule: "self == 'x'", optionalOldSelf: true }),
  rule({ rule: "oldSelf.orValue('a') == self", optionalOldSelf: true }),
  rule({ rule: "oldSelf == self", optionalOldSelf: false }),
  rule({ rule: "self.foo == 1" }),
  rule({ rule: "self" }),
  rule({ rule: "self == 'x' && default == 1" }),
  rule({ rule: "self == 'x'" }, { type: "string", default: "y" }),
  rule({ rule: "self == oldSelf" }, { type: "string", default: "y" }),
  rule({ rule: "self.all(x, x == 'a')" }, { type: "array", items: { type: "string" } }),
  rule({ rule: "self.all(x, self.all(y, x == y))" }, { type: "array", items: { type: "string" } }),
  rule(
    { rule: "self.all(x, self.all(y, x == y))" },
    { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
  ),
  rule({ rule: "self.all(x, x.contains('y'))" }, { type: "array", items: { type: "string" } }),
  rule({ rule: "self.all(x, x.matches('^[a-z]+$'))" }, { type: "array", items: { type: "string" } }),
  rule({ rule: "self.all(k, self[k] > 0)" }, { type: "object", additionalProperties: { type: "integer" } }),
  rule(
    { rule: "self.all(k, self[k].size() > 0)" },
    { type: "object", additionalProperties: { type: "string" } },
  ),
  rule({ rule: "self.matches('^[a-z]+$')" }),
  rule({ rule: "self.contains(self)" }),
  rule({ rule: "self.map(x, x + 'a').size() > 0" }, { type: "array", items: { type: "string" } }),
  rule(
    { rule: "self.a + self.b == 'x'" },
    { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
  ),
  field({
    type: "array",
    items: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
  }),
  field({
    type: "array",
    items: { type: "string", "x-kubernetes-validations": [{ rule: "self.size() > 2" }] },
  }),
  field({
    type: "array",
    items: { type: "string", "x-kubernetes-validations": [{ rule: "self.matches('a+b+')" }] },
  }),
  field({
    type: "array",
    items: {
      type: "object",
      properties: {
        a: {
          type: "array",
          items: { type: "string", "x-kubernetes-validations": [{ rule: "self.size() > 2" }] },
        },
      },
    },
  }),
  field({
    type: "array",
    maxItems: 5,
    items: {
      type: "array",
      maxItems: 1000000,
      items: { type: "string", "x-kubernetes-validations": [{ rule: "self == 'x'" }] },
    },
  }),
  root({
    type: "object",
    "x-kubernetes-validations": [
      { rule: "self.metadata.name.startsWith('x')" },
      { rule: "self.metadata.labels.size() > 0" },
      { rule: "self.kind == 'Thing' && self.apiVersion != ''" },
    ],
  }),
  field({
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "self.x == 1" }],
  }),
  field({
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "self == 1" }],
  }),
  field({
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-validations": [{ rule: "self == 1 || self == 'a'" }, { rule: "string(self).size() > 1" }],
  }),
];

const cluster = new Cluster();
const patterns = new Patterns();
const differences: string[] = [];
const shown = (causes: readonly Cause[]): string[] =>
  causes.map((cause) => `${cause.field} | ${cause.reason} | ${cause.message}`).sort();

for (const definition of DEFINITIONS) {
  const answer = await cluster.send("POST", `${CRDS}?dryRun=All&fieldValidation=Ignore`, definition);
  const real = shown((answer.body.details as { causes?: Cause[] } | undefined)?.causes ?? []);
  const ours = clone(definition);
  defaultCrd(ours);
  ours.status = initialCrdStatus(ours);
  await prepareCrd(ours);
  const mine = shown(await finish(validateCrd(patterns.matcher(), ours)));
  if (answer.status >= 300 && answer.status !== 422) {
    differences.push(
      `${JSON.stringify(definition.spec)}\n  ours: ${mine.join("; ")}\n  real: ${String(answer.body.message)}`,
    );
    continue;
  }
  const more = mine.filter((cause) => !real.includes(cause));
  const less = real.filter((cause) => !mine.includes(cause));
  if (more.length + less.length === 0) continue;
  const what = JSON.stringify((definition.spec as JsonObject).versions);
  differences.push(`${what}\n  ours: ${more.join("\n        ")}\n  real: ${less.join("\n        ")}`);
}
await cluster.close();
for (const difference of differences) console.log(`${difference}\n`);
conclude({ name: "crd/definitions", compared: DEFINITIONS.length, differing: differences.length });
