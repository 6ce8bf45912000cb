import type { Json, JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { but, type Step, type Story } from "../story.ts";

const at = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "{ns}.example.com";
const things = `/apis/${group}/v1/namespaces/{ns}/things`;

const properties: JsonObject = {
  list: { type: "array", items: { type: "string" } },
  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
  map: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
  },
  atomic: {
    type: "object",
    "x-kubernetes-map-type": "atomic",
    additionalProperties: { type: "string" },
  },
  granular: { type: "object", additionalProperties: { type: "string" } },
  nullable: { type: "array", nullable: true, items: { type: "string" } },
  defaulted: { type: "array", default: ["x"], items: { type: "string" } },
  replicas: { type: "integer" },
};

function definition(plural: string, kind: string, more: { readonly [part: string]: Json } = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: plural.slice(0, -1), shortNames: ["th"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", properties }, status: { type: "object" } },
            },
          },
          ...more,
        },
      ],
    },
  };
}

const thing = (name: string, spec: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "Thing",
  metadata: { name, ...more },
  spec,
});
const create = (name: string, spec?: JsonObject, more?: JsonObject): Step => ({
  send: ["POST", things, thing(name, spec, more)],
});
const apply = (name: string, spec: JsonObject): Step => ({
  send: ["PATCH", `${things}/${name}`, thing(name, spec), "apply"],
});
const scalePaths = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
const scale = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name, namespace: "{ns}" },
  spec,
});
const gone = `things.${group}`;
const things2 = things.replace("/v1/", "/v2/");
const thing2 = (name: string, spec: JsonObject): JsonObject => ({
  ...thing(name, spec),
  apiVersion: `${group}/v2`,
});
const version = (name: string, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  subresources: { status: {}, scale: scalePaths },
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { replicas: { type: "integer" } } },
        status: { type: "object", properties: { replicas: { type: "integer" } } },
      },
    },
  },
});
/** The same with more fields of `spec`. */
function withSpec(of: JsonObject, more: JsonObject): JsonObject {
  return but(of, {
    "schema.openAPIV3Schema.properties.spec.properties": { replicas: { type: "integer" }, ...more },
  });
}
function withStatusDefault(of: JsonObject): JsonObject {
  return but(of, { "schema.openAPIV3Schema.properties.status.default": { replicas: -1 } });
}
function withVersions(versions: JsonObject[]): JsonObject {
  const { spec, ...rest } = definition("things", "Thing");
  return { ...rest, spec: { ...(spec as JsonObject), versions } };
}

/** How long the real server takes to serve a definition, or to stop. */
const served = { settleMs: 4_000 };

/** Changes of definitions, and what they do to objects. */
export const definitions: Story[] = [
  {
    name: "definition that ends",
    at,
    steps: [
      { post: definition("things", "Thing") },
      served,
      { get: `things.${group}` },
      // Its kind and its short name are taken.
      { post: definition("others", "Thing") },
      served,
      { get: `others.${group}` },
      { send: ["GET", `/apis/${group}/v1/namespaces/{ns}/others`] },
      { send: ["GET", `/apis/${group}/v1/namespaces/{ns}/nothing`] },
      { send: ["GET", `/apis/${group}/v2/namespaces/{ns}/things`] },
      create("held", {}, { finalizers: ["example.com/hold"] }),
      { delete: `things.${group}` },
      served,
      { get: `things.${group}` },
      { send: ["GET", `/apis/${group}/v1`] },
      create("new"),
      create("wrong", { list: 5 }),
      { send: ["POST", things, thing("", {}, { generateName: "x-" })] },
      apply("applied", {}),
      { send: ["PATCH", `${things}/held`, { spec: { list: ["a"] } }, "merge"] },
      { send: ["GET", things] },
      { send: ["PATCH", `${things}/held`, { metadata: { finalizers: null } }, "merge"] },
      { settleMs: 10_000 },
      { get: `things.${group}` },
      { get: `others.${group}` },
      { delete: `others.${group}` },
      served,
    ],
  },
  {
    name: "applied nulls",
    at,
    steps: [
      { post: definition("things", "Thing") },
      served,
      ...["list", "set", "map", "atomic", "granular", "nullable", "defaulted"].flatMap((name): Step[] => {
        const value: Json = { atomic: { a: "b" }, granular: { a: "b" }, map: [{ k: "a" }] }[name] ?? ["a"];
        return [
          apply(`${name}-1`, { [name]: null }),
          apply(`${name}-2`, { [name]: value }),
          apply(`${name}-2`, { [name]: null }),
          apply(`${name}-2`, {}),
        ];
      }),
      { delete: `things.${group}` },
      served,
    ],
  },
  {
    name: "scale without replicas",
    at,
    steps: [
      { post: definition("things", "Thing", { subresources: { status: {}, scale: scalePaths } }) },
      served,
      create("a"),
      { send: ["GET", `${things}/a/scale`] },
      { send: ["PATCH", `${things}/a/scale`, { metadata: { labels: { x: "y" } } }, "merge"] },
      { send: ["PATCH", `${things}/a/scale`, { spec: { replicas: null } }, "merge"] },
      { send: ["PATCH", `${things}/a/scale`, scale("a", { replicas: 2 }), "apply"] },
      { send: ["PATCH", `${things}/a/scale`, { spec: { replicas: 2 } }, "merge"] },
      { send: ["GET", `${things}/a`] },
      create("b"),
      { send: ["PUT", `${things}/b/scale`, scale("b", { replicas: -1 })] },
      { send: ["PUT", `${things}/b/scale`, scale("b", {})] },
      { send: ["GET", `${things}/b`] },
      create("c"),
      { send: ["PUT", `${things}/c/scale`, scale("c", { replicas: 3 })] },
      { send: ["GET", `${things}/c`] },
      { send: ["GET", `${things}/nothing/scale`] },
      { delete: `things.${group}` },
      served,
    ],
  },
  {
    name: "version with another schema",
    at,
    steps: [
      { post: withVersions([withSpec(version("v1", true), {}), withSpec(version("v2", false), {})]) },
      served,
      ...["applied", "updated", "other", "status"].map(
        (name): Step => ({ send: ["PATCH", `${things}/${name}`, thing(name, { replicas: 1 }), "apply"] }),
      ),
      {
        patch: {
          spec:
            withVersions([
              { ...withSpec(version("v1", false), {}), served: false },
              withSpec(version("v2", true), { policy: { type: "string", default: "Ignore" } }),
            ]).spec ?? {},
        },
        name: gone,
      },
      served,
      { send: ["GET", `${things2}/applied`] },
      { send: ["PATCH", `${things2}/applied`, thing2("applied", { replicas: 1 }), "apply"] },
      { send: ["PATCH", `${things2}/applied`, thing2("applied", { replicas: 2 }), "apply"] },
      { send: ["PATCH", `${things2}/updated`, { spec: { replicas: 2 } }, "merge"] },
      { send: ["PATCH", `${things2}/updated`, thing2("updated", { replicas: 2 }), "apply"] },
      { send: ["PATCH", `${things2}/status/status`, { status: { replicas: 4 } }, "merge"] },
      { send: ["PATCH", `${things2}/other`, { spec: { policy: null } }, "merge"] },
      { delete: gone },
      served,
    ],
  },
  {
    name: "status with a default",
    at,
    steps: [
      { post: withVersions([withStatusDefault(version("v1", true))]) },
      served,
      create("a", { replicas: 1 }),
      { send: ["GET", `${things}/a`] },
      apply("b", { replicas: 1 }),
      { send: ["GET", `${things}/b`] },
      { send: ["GET", `${things}?fieldSelector=metadata.name=b`] },
      { send: ["PATCH", `${things}/b`, { metadata: { labels: { a: "b" } } }, "merge"] },
      { send: ["PATCH", `${things}/b/status`, { status: { replicas: 3 } }, "merge"] },
      { send: ["PATCH", `${things}/b/status`, { status: null }, "merge"] },
      { send: ["PATCH", `${things}/a/status`, thing("a"), "apply"] },
      { delete: gone },
      served,
    ],
  },
  // The last one: the real server cannot read all of its objects any more, and so never takes the
  // definition away.
  {
    name: "removed version",
    at,
    steps: [
      { post: withVersions([version("v1", true), version("v2", false)]) },
      served,
      ...["applied", "updated", "scaled", "status", "unmigrated"].map(
        (name): Step => ({ send: ["PATCH", `${things}/${name}`, thing(name, { replicas: 1 }), "apply"] }),
      ),
      { patch: { spec: withVersions([version("v1", false), version("v2", true)]).spec ?? {} }, name: gone },
      served,
      // Stored in the new version, with a manager of the old one.
      ...["applied", "updated", "scaled", "status"].map(
        (name): Step => ({
          send: ["PATCH", `${things2}/${name}`, { metadata: { labels: { migrated: "yes" } } }, "merge"],
        }),
      ),
      { patch: { status: { storedVersions: ["v2"] } }, name: gone, sub: "status" },
      { patch: { spec: withVersions([version("v2", true)]).spec ?? {} }, name: gone },
      served,
      { send: ["GET", `${things2}/applied`] },
      { send: ["PATCH", `${things2}/applied`, thing2("applied", { replicas: 2 }), "apply"] },
      { send: ["PATCH", `${things2}/updated`, { spec: { replicas: 2 } }, "merge"] },
      { send: ["PATCH", `${things2}/scaled/scale`, { spec: { replicas: 3 } }, "merge"] },
      { send: ["GET", `${things2}/scaled`] },
      { send: ["PATCH", `${things2}/status/status`, { status: { replicas: 4 } }, "merge"] },
      { send: ["GET", `${things2}/unmigrated`] },
      { send: ["PATCH", `${things2}/unmigrated`, { spec: { replicas: 2 } }, "merge"] },
      { delete: gone },
      served,
    ],
  },
];
