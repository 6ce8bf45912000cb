import {
  packageOf,
  type RecordedSchema,
  type RecordedSchemas,
  recordedSchemas,
} from "@windlass/kinds/recorded";
import { memoised } from "../memoised.ts";
import type { Schema } from "../schema/schema.ts";

/** The recorded types of one package. */
export const schemasOf: (packageId: string) => RecordedSchemas = memoised(recordedSchemas);

/**
 * Types that read and write their JSON by code, which OpenAPI describes loosely or not at all.
 * Their nodes say which they are in `format`, so that code that walks a schema need not know Go:
 *
 * | format | what it holds |
 * | --- | --- |
 * | `quantity` | a string or number; compare by amount |
 * | `int-or-string` | an integer or a string |
 * | `date-time` | RFC 3339, to the second |
 * | `micro-time` | RFC 3339 with exactly six fractional digits |
 * | `duration` | a Go duration, such as `1h30m` |
 * | `byte` | base64 |
 */
const special: { readonly [name: string]: Schema } = {
  "resource.Quantity": { format: "quantity", "x-kubernetes-int-or-string": true },
  "intstr.IntOrString": { format: "int-or-string", "x-kubernetes-int-or-string": true },
  "meta.v1.Time": { type: "string", format: "date-time" },
  "meta.v1.MicroTime": { type: "string", format: "micro-time" },
  "meta.v1.Duration": { type: "string", format: "duration" },
  "meta.v1.FieldsV1": { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  "runtime.RawExtension": {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-map-type": "atomic",
  },
  "apiextensions.v1.JSON": { "x-kubernetes-preserve-unknown-fields": true },
  "apiextensions.v1.JSONSchemaPropsOrArray": { "x-kubernetes-preserve-unknown-fields": true },
  "apiextensions.v1.JSONSchemaPropsOrBool": { "x-kubernetes-preserve-unknown-fields": true },
  "apiextensions.v1.JSONSchemaPropsOrStringArray": { "x-kubernetes-preserve-unknown-fields": true },
};

const linked = new Map<string, Schema>();
const names = new WeakMap<Schema, string>();

/**
 * What the type of a node of a built-in kind's schema is called, such as `PodSpec`; undefined where
 * it is no named type.
 */
export function typeNameOf(schema: Schema): string | undefined {
  return names.get(schema);
}

/**
 * The schema of a recorded type, such as `core.v1.Pod`, with every reference replaced by the node
 * it names. Nodes are shared by all that ask and must not be changed.
 *
 * @throws if no such type was recorded.
 */
export function schemaOfType(name: string): Schema {
  const known = linked.get(name);
  if (known) return known;
  const merges: (() => void)[] = [];
  const node = linkType(name, merges);
  // A node that adds to the type it refers to is a copy of that type's node, which must be whole
  // before it is copied.
  for (const merge of merges) merge();
  return node;
}

/**
 * The schema of a built-in kind, or of a kind that is only ever a subresource's body, such as
 * `policy/v1 Eviction`.
 */
export function builtinSchema(group: string, version: string, kind: string): Schema {
  return schemaOfType(`${packageOf(group, version)}.${kind}`);
}

function linkType(name: string, merges: (() => void)[]): Schema {
  const known = linked.get(name);
  if (known) return known;
  const node: Schema = {};
  linked.set(name, node);
  names.set(node, name.slice(name.lastIndexOf(".") + 1));
  const given = special[name];
  if (given) return Object.assign(node, given);
  const dot = name.lastIndexOf(".");
  const recorded = schemasOf(name.slice(0, dot)).types[name.slice(dot + 1)];
  if (!recorded) throw new Error(`no schema was recorded for ${name}`);
  return fill(node, recorded, merges);
}

function link(recorded: RecordedSchema, merges: (() => void)[]): Schema {
  const { $ref, ...beside } = recorded;
  if ($ref === undefined) return fill({}, recorded, merges);
  const target = linkType($ref, merges);
  if (Object.keys(beside).length === 0) return target;
  const node: Schema = {};
  names.set(node, $ref.slice($ref.lastIndexOf(".") + 1));
  merges.push(() => {
    Object.assign(node, target, fill({}, beside, merges));
  });
  return node;
}

function fill(node: Schema, recorded: RecordedSchema, merges: (() => void)[]): Schema {
  const {
    properties,
    items,
    additionalProperties,
    "x-kubernetes-group-version-kind": _kinds,
    ...plain
  } = recorded;
  Object.assign(node, plain);
  if (properties) {
    node.properties = {};
    for (const name of Object.keys(properties)) {
      node.properties[name] = link(properties[name] as RecordedSchema, merges);
    }
  }
  if (items) node.items = link(items, merges);
  if (additionalProperties !== undefined) {
    node.additionalProperties =
      typeof additionalProperties === "boolean" ? additionalProperties : link(additionalProperties, merges);
  }
  return node;
}
