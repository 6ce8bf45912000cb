import { equal, identityText, isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import type { Schema } from "./schema.ts";

/**
 * A schema node made ready for walking data: fields by `Map`, so that no field name ever meets a
 * prototype.
 */
export interface SchemaNode {
  readonly schema: Schema;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /**
   * Values of a map: a node, `true` for anything, `false` for nothing; undefined when the schema
   * does not say.
   */
  readonly additional: SchemaNode | boolean | undefined;
  readonly items: SchemaNode | undefined;
  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly nullable: boolean;
}

const nodes = new WeakMap<Schema, SchemaNode>();

/** The node of a schema. Children are made when first asked for, so recursive types are fine. */
export function nodeOf(schema: Schema): SchemaNode {
  let node = nodes.get(schema);
  if (node === undefined) {
    node = new LazyNode(schema);
    nodes.set(schema, node);
  }
  return node;
}

class LazyNode implements SchemaNode {
  readonly schema: Schema;
  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly nullable: boolean;
  #properties: Map<string, SchemaNode> | undefined;

  constructor(schema: Schema) {
    this.schema = schema;
    this.preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
    this.embedded = schema["x-kubernetes-embedded-resource"] === true;
    this.nullable = schema.nullable === true;
  }

  get properties(): ReadonlyMap<string, SchemaNode> {
    if (this.#properties === undefined) {
      this.#properties = new Map();
      const declared = this.schema.properties ?? {};
      for (const name of Object.keys(declared).sort()) {
        this.#properties.set(name, nodeOf(declared[name] as Schema));
      }
    }
    return this.#properties;
  }

  get additional(): SchemaNode | boolean | undefined {
    const { additionalProperties } = this.schema;
    return typeof additionalProperties === "object" ? nodeOf(additionalProperties) : additionalProperties;
  }

  get items(): SchemaNode | undefined {
    return this.schema.items === undefined ? undefined : nodeOf(this.schema.items);
  }
}

/** The node of a field's value, whether the field is declared by name or is an entry of a map. */
export function nodeOfField(node: SchemaNode, name: string): SchemaNode | undefined {
  const declared = node.properties.get(name);
  if (declared !== undefined) return declared;
  return typeof node.additional === "object" ? node.additional : undefined;
}

/**
 * A value before an update, and the node that says how its parts are matched with those of the new
 * value.
 */
export interface Correlated {
  readonly old: Json;
  readonly node: SchemaNode;
}

/** What a field was before. Undefined when it is new, or the schema does not know it. */
export function correlatedField(
  before: Correlated | undefined,
  value: Json,
  name: string,
): Correlated | undefined {
  if (before === undefined || !isObject(before.old) || !isObject(value)) return undefined;
  const old = field(before.old, name);
  const node = nodeOfField(before.node, name);
  if (old === undefined || node === undefined || !Object.hasOwn(value, name)) return undefined;
  return { old, node };
}

/** What an item of a list was before. */
export type ItemPast = (item: Json) => Correlated | undefined;

const noPast: ItemPast = () => undefined;

/**
 * What the items of a map-list were before: for each the one item with the same keys. Items of
 * other lists have no past.
 */
export function correlatedItems(before: Correlated | undefined): ItemPast {
  if (before === undefined || !Array.isArray(before.old)) return noPast;
  const { items, schema } = before.node;
  if (schema["x-kubernetes-list-type"] !== "map" || items === undefined) return noPast;
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const keysOf = (item: JsonObject) => names.map((name) => identityText(field(item, name) ?? null)).join();
  const past = new Map<string, Correlated | "several">();
  for (const old of before.old) {
    if (!isObject(old)) continue;
    const keys = keysOf(old);
    past.set(keys, past.has(keys) ? "several" : { old, node: items });
  }
  return (item) => {
    const found = isObject(item) ? past.get(keysOf(item)) : undefined;
    return found === "several" ? undefined : found;
  };
}

/**
 * Whether a value is what it was. Fields the schema does not know count as changed, as they do on
 * the real server.
 */
export function unchanged(value: Json, before: Correlated): boolean {
  const { old } = before;
  if (value === null || old === null) return value === old;
  if (Array.isArray(value) !== Array.isArray(old) || isObject(value) !== isObject(old)) return false;
  if (Array.isArray(value)) {
    const was = old as Json[];
    if (value.length !== was.length) return false;
    if (before.node.schema["x-kubernetes-list-type"] !== "map") return equal(was, value);
    const pastOf = correlatedItems(before);
    return value.every((item) => {
      const past = pastOf(item);
      return past !== undefined && unchanged(item, past);
    });
  }
  if (isObject(value)) {
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => {
      const child = correlatedField(before, value, name);
      return child !== undefined && unchanged(value[name] as Json, child);
    });
  }
  return value === old;
}
