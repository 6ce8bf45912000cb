import type { Schema } from "../schema/schema.ts";
import {
  BOOL,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  type ObjectType,
  TIMESTAMP,
  type Type,
} from "./types.ts";

/**
 * No request is larger, so neither is anything in it: what a schema leaves unbounded is bounded by
 * this.
 */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const ESCAPES: { readonly [text: string]: string } = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** A field's name as expressions write it; undefined for names that cannot be written. */
export function escapeName(name: string): string | undefined {
  if (/^[A-Za-z]\w*$/.test(name) && !name.includes("__") && !RESERVED.has(name)) return name;
  if (RESERVED.has(name)) return `__${name}__`;
  const escaped = name.replace(/__|[-./]/g, (text) => ESCAPES[text] as string);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) && /^[A-Za-z_./-]/.test(name) ? escaped : undefined;
}

/** A type, and the fewest bytes a value of it takes in a request. */
export interface Declared {
  readonly type: Type;
  readonly least: number;
}

const META: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

const resources = new WeakMap<Schema, Schema>();

/** What every resource has, whatever its schema says. */
export function withResourceFields(schema: Schema): Schema {
  let resource = resources.get(schema);
  if (resource === undefined) {
    resource = asResource(schema);
    resources.set(schema, resource);
  }
  return resource;
}

function asResource(schema: Schema): Schema {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: META,
    },
  };
}

let unique = 0;

/**
 * The type of what a schema describes; undefined where it does not say enough for rules to use it.
 */
export function declare(schema: Schema, isResource: boolean): Declared | undefined {
  return declared(isResource ? withResourceFields(schema) : schema, `selfType${++unique}`);
}

function declared(schema: Schema, name: string): Declared | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return { type: { kind: "dyn", max: MAX_REQUEST_BYTES - 2 }, least: 1 };
  }
  switch (schema.type) {
    case "array": {
      const items = schema.items === undefined ? undefined : child(schema.items, `${name}.@idx`);
      if (items === undefined) return undefined;
      const most = schema.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (items.least + 1));
      return { type: listOf(items.type, Math.max(0, most)), least: 2 };
    }
    case "object":
      return declaredObject(schema, name);
    case "string":
      return declaredString(schema);
    case "boolean":
      return { type: BOOL, least: 4 };
    case "number":
      return { type: DOUBLE, least: 1 };
    case "integer":
      return { type: INT, least: 1 };
    default:
      return undefined;
  }
}

function child(schema: Schema, name: string): Declared | undefined {
  return declared(
    schema["x-kubernetes-embedded-resource"] === true ? withResourceFields(schema) : schema,
    name,
  );
}

/**
 * Keys are taken to have no length when costs are estimated: that is how the real server counts.
 */
const KEY: Type = { kind: "string", max: 0 };

function declaredObject(schema: Schema, name: string): Declared | undefined {
  if (typeof schema.additionalProperties === "object") {
    const values = child(schema.additionalProperties, `${name}.@elem`);
    if (values === undefined) return undefined;
    const most = schema.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (values.least + 6));
    return { type: mapOf(KEY, values.type, Math.max(0, most)), least: 2 };
  }
  const fields = new Map<string, Type>();
  let least = 2;
  const properties = schema.properties ?? {};
  for (const property of Object.keys(properties)) {
    const inner = child(properties[property] as Schema, `${name}.${property}`);
    if (inner === undefined) continue;
    if (schema.required?.includes(property) === true) least += property.length + 4 + inner.least;
    const escaped = escapeName(property);
    if (escaped !== undefined) fields.set(escaped, inner.type);
  }
  const type: ObjectType = { kind: "object", name, fields };
  return { type, least };
}

const UNBOUNDED_TEXT = MAX_REQUEST_BYTES - 2;

function declaredString(schema: Schema): Declared {
  const { maxLength } = schema;
  switch (schema.format) {
    case "byte":
      return { type: { kind: "bytes", max: maxLength ?? UNBOUNDED_TEXT }, least: 2 };
    case "duration":
      return { type: DURATION, least: 2 };
    case "date":
    case "date-time":
      return { type: TIMESTAMP, least: 2 };
    default:
      break;
  }
  // Lengths are given in characters, and one can take four bytes.
  const longest = (schema.enum ?? []).reduce<number>(
    (most, option) => Math.max(most, typeof option === "string" ? option.length : 0),
    0,
  );
  const max =
    maxLength !== undefined
      ? Math.max(0, maxLength) * 4
      : schema.enum !== undefined
        ? longest
        : UNBOUNDED_TEXT;
  return { type: { kind: "string", max }, least: 2 };
}

/** How many values of this size fit into a request: the bound where the schema gives none. */
export function mostInRequest(least: number): number {
  return Math.floor(MAX_REQUEST_BYTES / (least + 1));
}
