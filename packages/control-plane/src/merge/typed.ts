import { isObject, type Json } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { OBJECT_META } from "./object-meta.ts";

export type Scalar = "numeric" | "string" | "boolean" | "untyped";

/**
 * What a schema node says about merging: which shapes a value may have, and for each shape how it
 * is taken apart. A node that allows several shapes is read by the shape of its value.
 */
export interface Type {
  readonly scalar?: Scalar;
  readonly list?: ListType;
  readonly map?: MapType;
}

export interface ListType {
  /** Replaced and owned as one value. */
  readonly atomic: boolean;
  /** The key fields of a list of maps; none for a set. */
  readonly keys: readonly string[];
  /** The same, sorted by name: the order in which an item's address lists them. */
  readonly sortedKeys: readonly string[];
  readonly element: Type;
}

export interface MapType {
  readonly atomic: boolean;
  /**
   * Whether the map says nothing about its members, so that their types are taken from the values.
   */
  readonly deduced: boolean;
  field(name: string): Field | undefined;
  /** Members that are not named fields; undefined when there may be none. */
  readonly element: Type | undefined;
}

export interface Field {
  readonly type: Type;
  /** Stands in for an absent key field of a list item. */
  readonly default: Json | undefined;
}

/** Free-form data below a list: a list of it, or a map, is one value. */
const ATOMIC: Type = {
  scalar: "untyped",
  list: {
    atomic: true,
    keys: [],
    sortedKeys: [],
    get element() {
      return ATOMIC;
    },
  },
  map: {
    atomic: true,
    deduced: false,
    field: () => undefined,
    get element() {
      return ATOMIC;
    },
  },
};

/** Free-form data: maps are taken apart, lists are one value. */
export const DEDUCED: Type = {
  scalar: "untyped",
  list: { atomic: true, keys: [], sortedKeys: [], element: ATOMIC },
  map: {
    atomic: false,
    deduced: true,
    field: () => undefined,
    get element() {
      return DEDUCED;
    },
  },
};

const roots = new WeakMap<Schema, Type>();
const plain = new WeakMap<Schema, Type>();
const preserving = new WeakMap<Schema, Type>();

/**
 * The type of a whole object. Every object has apiVersion, kind and the standard metadata, whatever
 * its schema says.
 */
export function rootType(schema: Schema): Type {
  return cached(roots, schema, () => {
    const type = typeOf(schema, false);
    const map = type.map ?? (DEDUCED.map as MapType);
    const metadata = schema.properties?.metadata;
    const standard: Record<string, Field> = {
      apiVersion: { type: { scalar: "string" }, default: undefined },
      kind: { type: { scalar: "string" }, default: undefined },
      metadata: {
        type: typeOf(metadata?.properties?.managedFields ? metadata : OBJECT_META, false),
        default: undefined,
      },
    };
    return {
      map: {
        atomic: false,
        deduced: false,
        field: (name) => (Object.hasOwn(standard, name) ? standard[name] : map.field(name)),
        get element() {
          return map.element;
        },
      },
    };
  });
}

/**
 * Preserving unknown fields is inherited by what a node declares inline, as it is by the API
 * server.
 */
function typeOf(schema: Schema, inherited: boolean): Type {
  const preserves = inherited || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return cached(preserves ? preserving : plain, schema, () => compile(schema, preserves));
}

function compile(schema: Schema, preserves: boolean): Type {
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") return { scalar: "untyped" };
  switch (schema.type) {
    case "object":
      return { map: mapType(schema, preserves) };
    case "array":
      return { list: listType(schema, preserves) };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    case "string":
      return { scalar: schema.format === "date-time" ? "untyped" : "string" };
    default:
      return { scalar: "untyped", list: listType(schema, preserves), map: mapType(schema, preserves) };
  }
}

function listType(schema: Schema, preserves: boolean): ListType {
  const kind = schema["x-kubernetes-list-type"];
  const keys = kind === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [];
  return {
    atomic: kind !== "set" && kind !== "map",
    keys,
    sortedKeys: keys.toSorted(),
    get element() {
      return schema.items === undefined ? ATOMIC : typeOf(schema.items, preserves);
    },
  };
}

function mapType(schema: Schema, preserves: boolean): MapType {
  const properties = schema.properties ?? {};
  const fields = new Map<string, Field>();
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const declared = embedded ? { ...properties, ...EMBEDDED } : properties;
  const rest = schema.additionalProperties;
  const fieldless = Object.keys(declared).length === 0;
  const free = rest === undefined ? preserves || fieldless : rest === true;
  return {
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    deduced: free && fieldless,
    field(name) {
      const known = fields.get(name);
      if (known !== undefined || !Object.hasOwn(declared, name)) return known;
      const property = declared[name] as Schema;
      const field = {
        type: typeOf(property, preserves && property !== OBJECT_META),
        default: property.default,
      };
      fields.set(name, field);
      return field;
    },
    get element() {
      return typeof rest === "object" ? typeOf(rest, preserves) : free ? DEDUCED : undefined;
    },
  };
}

const EMBEDDED: Record<string, Schema> = {
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: OBJECT_META,
};

function cached(cache: WeakMap<Schema, Type>, schema: Schema, make: () => Type): Type {
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const made = make();
  cache.set(schema, made);
  return made;
}

export type Shape = "scalar" | "list" | "map";

/**
 * Which of the type's shapes a value is read as. Null fits all, and is read as the first there is.
 */
export function shapeOf(type: Type, value: Json): Shape {
  if (Array.isArray(value)) {
    if (type.list) return "list";
  } else if (isObject(value)) {
    if (type.map) return "map";
  } else if (value !== null && type.scalar) {
    return "scalar";
  }
  if (type.map) return "map";
  return type.scalar ? "scalar" : "list";
}

/** The type of a member of a map. */
export function memberType(map: MapType, name: string): Type {
  return map.field(name)?.type ?? map.element ?? DEDUCED;
}
