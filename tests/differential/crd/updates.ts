/**
 * Updates of an object that was stored before its schema became strict: what did not change is let
 * pass, what did is not. Transition rules run as well, and so does the status subresource.
 *
 *   KUBECONFIG=… node tests/differential/crd/updates.ts
 */
import { prepareCrd } from "../../../packages/control-plane/src/crd/rule-review.ts";
import { servedKinds } from "../../../packages/control-plane/src/crd/served-kinds.ts";
import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { Patterns } from "../../../packages/control-plane/src/patterns/index.ts";
import type { Cause } from "../../../packages/control-plane/src/status.ts";
import { finish } from "../../../packages/control-plane/src/steps.ts";
import { conclude } from "../tally.ts";
import { Cluster, CRDS } from "./cluster.ts";

const GROUP = "updates.schema-check.dev";
const NAME = `olds.${GROUP}`;
const COLLECTION = `/apis/${GROUP}/v1/olds`;

const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const port = (extra: JsonObject): JsonObject => ({
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, port: { type: "integer", minimum: 100, ...extra } },
});

const STRICT: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["must"],
      properties: {
        must: { type: "string" },
        s: { type: "string", maxLength: 3 },
        n: { type: "integer", minimum: 5 },
        e: { type: "string", enum: ["A", "B"] },
        o: {
          type: "object",
          properties: { a: { type: "string", maxLength: 1 }, b: { type: "string", maxLength: 1 } },
        },
        required: {
          type: "object",
          required: ["x"],
          properties: { x: { type: "string" }, y: { type: "string" } },
        },
        plain: { type: "array", items: { type: "integer", minimum: 5 } },
        few: { type: "array", maxItems: 1, items: { type: "integer" } },
        atomic: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "integer", minimum: 5 } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string", maxLength: 2 } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: port({}),
        },
        map: { type: "object", additionalProperties: { type: "integer", minimum: 5 } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, minProperties: 5 },
        any: { type: "object", properties: { x: { type: "string" } }, anyOf: [{ required: ["x"] }] },
        fixed: {
          type: "string",
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }],
        },
        grows: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] },
        short: { type: "string", maxLength: 100, "x-kubernetes-validations": [{ rule: "self.size() < 3" }] },
        pair: {
          type: "object",
          properties: { min: { type: "integer" }, max: { type: "integer" } },
          "x-kubernetes-validations": [
            {
              rule: "self.min <= self.max",
              message: "min over max",
              fieldPath: ".min",
              reason: "FieldValueForbidden",
            },
          ],
        },
        maybe: {
          type: "string",
          "x-kubernetes-validations": [
            {
              rule: "oldSelf.orValue('new') != self",
              optionalOldSelf: true,
              messageExpression: "'was ' + self",
            },
          ],
        },
        ruled: {
          type: "array",
          maxItems: 10,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            ...port({ "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "port is fixed" }] }),
          },
        },
        longs: {
          type: "array",
          maxItems: 10,
          items: {
            type: "string",
            maxLength: 100,
            "x-kubernetes-validations": [{ rule: "self.size() < 3" }],
          },
        },
      },
    },
    status: {
      type: "object",
      properties: { n: { type: "integer", minimum: 5 }, s: { type: "string", maxLength: 3 } },
      "x-kubernetes-validations": [{ rule: "!has(oldSelf.n) || has(self.n)", message: "n must stay" }],
    },
  },
};

const SPEC: JsonObject = {
  s: "toolong",
  n: 1,
  e: "Z",
  o: { a: "long", b: "long" },
  required: { y: "y" },
  plain: [1, 2],
  few: [1, 2, 3],
  atomic: [1, 2],
  set: ["long", "also"],
  ports: [
    { name: "a", port: 1 },
    { name: "b", port: 2 },
  ],
  map: { a: 1, b: 2 },
  free: { k: 1 },
  any: { y: 1 },
  fixed: "f",
  grows: 5,
  short: "muchtoolong",
  pair: { min: 5, max: 1 },
  maybe: "m",
  ruled: [
    { name: "a", port: 100 },
    { name: "b", port: 200 },
  ],
  longs: ["aaaaa", "b"],
};

function crdOf(schema: Json, subresources: JsonObject): JsonObject & { metadata: { name: string } } {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: NAME },
    spec: {
      group: GROUP,
      scope: "Cluster",
      names: { plural: "olds", kind: "Old" },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources },
      ],
    },
  };
}

/** Merge patches, each against the object as it was stored. */
const PATCHES: readonly JsonObject[] = [
  { metadata: { labels: { x: "y" } } },
  { spec: { must: "x" } },
  { spec: { s: "other long" } },
  { spec: { s: "ok" } },
  { spec: { n: 2 } },
  { spec: { e: "Y" } },
  { spec: { o: { a: "changed" } } },
  { spec: { o: { c: "unknown" } } },
  { spec: { required: { y: "z" } } },
  { spec: { required: { x: "now" } } },
  { spec: { plain: [1, 3] } },
  { spec: { plain: [1, 2, 7] } },
  { spec: { plain: [7, 1, 2] } },
  { spec: { few: [1, 2] } },
  { spec: { few: [3, 2, 1] } },
  { spec: { atomic: [1, 2, 7] } },
  { spec: { atomic: [1, 2] } },
  { spec: { set: ["long"] } },
  { spec: { set: ["also", "long"] } },
  {
    spec: {
      ports: [
        { name: "b", port: 2 },
        { name: "a", port: 1 },
      ],
    },
  },
  {
    spec: {
      ports: [
        { name: "b", port: 3 },
        { name: "a", port: 1 },
      ],
    },
  },
  { spec: { ports: [{ name: "c", port: 3 }] } },
  {
    spec: {
      ports: [
        { name: "a", port: 1 },
        { name: "a", port: 1 },
      ],
    },
  },
  { spec: { map: { c: 3 } } },
  { spec: { map: { a: 2 } } },
  { spec: { free: { k: 2 } } },
  { spec: { any: { y: 2 } } },
  { spec: { any: { x: "2" } } },
  { spec: { fixed: "g" } },
  { spec: { fixed: null } },
  { spec: { grows: 4 } },
  { spec: { grows: 6 } },
  { spec: { short: "another long one" } },
  { spec: { short: "ok" } },
  { spec: { pair: { min: 6 } } },
  { spec: { pair: { min: 0 } } },
  { spec: { maybe: "m" } },
  { spec: { maybe: "other" } },
  { spec: { ruled: [{ name: "b", port: 201 }] } },
  {
    spec: {
      ruled: [
        { name: "b", port: 200 },
        { name: "c", port: 300 },
      ],
    },
  },
  { spec: { longs: ["aaaaa", "c"] } },
  { spec: { longs: ["b", "aaaaa"] } },
  { spec: { longs: ["aaaaa", "b", "ccccc"] } },
  { spec: { s: "other long", fixed: "g", must: "x" } },
];

const STATUS_PATCHES: readonly JsonObject[] = [
  { status: { n: 1 } },
  { status: { n: 2 } },
  { status: { s: "toolong" } },
  { status: { n: null } },
  { status: { n: "x" } },
  { status: { n: 9 } },
];

function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: JsonObject = target !== undefined && isObject(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    if (patch[name] === null) delete result[name];
    else result[name] = merged(result[name], patch[name] as Json);
  }
  return result;
}

const cluster = new Cluster();
const patterns = new Patterns();
const differences: string[] = [];
const shown = (causes: readonly Cause[]): string[] =>
  causes.map((cause) => `${cause.field} | ${cause.reason} | ${cause.message}`).sort();

try {
  await cluster.serve(crdOf(OPEN, {}), COLLECTION);
  const first = {
    apiVersion: `${GROUP}/v1`,
    kind: "Old",
    metadata: { name: "x" },
    spec: SPEC,
    status: { n: 1 },
  };
  await cluster.send("POST", COLLECTION, first);
  const patched = await cluster.send(
    "PATCH",
    `${CRDS}/${NAME}`,
    crdOf(STRICT, { status: {} }),
    "application/merge-patch+json",
  );
  if (patched.status >= 300) throw new Error(String(patched.body.message));
  // The new schema is in force once a fresh object is refused for lack of what it requires.
  for (let attempt = 0; attempt < 100; attempt++) {
    const probe = { ...first, metadata: { name: "probe" }, spec: {} };
    if ((await cluster.send("POST", `${COLLECTION}?dryRun=All`, probe)).status === 422) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await prepareCrd(patched.body as JsonObject);
  const [kind] = servedKinds(patched.body as JsonObject);
  if (kind === undefined) throw new Error("no kind");
  const stored = (await cluster.send("GET", `${COLLECTION}/x`)).body as JsonObject;

  const compare = async (patch: JsonObject, subresource?: "status"): Promise<void> => {
    const path = `${COLLECTION}/x${subresource === undefined ? "" : "/status"}?dryRun=All`;
    const answer = await cluster.send("PATCH", path, patch, "application/merge-patch+json");
    const real = shown((answer.body.details as { causes?: Cause[] } | undefined)?.causes ?? []);
    const next = merged(clone(stored), patch) as JsonObject;
    kind.schema.prune(next);
    kind.schema.applyDefaults(next);
    const mine = shown(await finish(kind.validate(patterns.matcher(), next, stored, subresource)));
    const more = mine.filter((cause) => !real.includes(cause));
    const less = real.filter((cause) => !mine.includes(cause));
    if (more.length + less.length > 0) {
      differences.push(
        `${JSON.stringify(patch)}\n  ours: ${more.join("\n        ")}\n  real: ${less.join("\n        ")}`,
      );
    }
  };
  for (const patch of PATCHES) await compare(patch);
  for (const patch of STATUS_PATCHES) await compare(patch, "status");
} finally {
  await cluster.remove(NAME);
  await cluster.close();
}
for (const difference of differences) console.log(`${difference}\n`);
conclude({
  name: "crd/updates",
  compared: PATCHES.length + STATUS_PATCHES.length,
  differing: differences.length,
});
