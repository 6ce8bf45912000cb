import { apiVersionOf } from "@windlass/kinds";
import type { RecordedSchema } from "@windlass/kinds/recorded";
import { type Json, type JsonObject, parse, stringify } from "../json.ts";
import type { KindInfo } from "../kinds/index.ts";
import { schemasOf } from "../kinds/schemas.ts";
import type { Schema } from "../schema/schema.ts";
import { embeddedDescriptions, identityDescriptions, withDescriptions } from "./descriptions.ts";

/**
 * The named schemas of a document. A type is described when it is first referred to, along with all
 * it refers to, so that a document holds what it needs and no more.
 */
export class Components {
  readonly #schemas = new Map<string, JsonObject>();

  /** Where a recorded type, such as `meta.v1.ObjectMeta`, stands in the document. */
  refer(type: string): string {
    const dot = type.lastIndexOf(".");
    const { prefix, types } = schemasOf(type.slice(0, dot));
    const local = type.slice(dot + 1);
    const name = `${prefix}.${local}`;
    if (!this.#schemas.has(name)) {
      const recorded = types[local];
      if (!recorded) throw new Error(`no schema was recorded for ${type}`);
      // Set before it is described: a type may refer to itself.
      const described: JsonObject = {};
      this.#schemas.set(name, described);
      Object.assign(described, withDescriptions(type, this.#describe(recorded)), introduction(recorded));
    }
    return `#/components/schemas/${name}`;
  }

  /**
   * Whether a type of that name was recorded. Some kinds, such as lists of options, are in no
   * document.
   */
  knows(type: string): boolean {
    const dot = type.lastIndexOf(".");
    return Object.hasOwn(schemasOf(type.slice(0, dot)).types, type.slice(dot + 1));
  }

  /** Adds a custom kind and its list. @returns the name of the kind's schema */
  addCustom(kind: KindInfo): { readonly kind: string; readonly list: string } {
    const prefix = `${kind.group.split(".").reverse().join(".")}.${kind.version}`;
    const name = `${prefix}.${kind.kind}`;
    const listName = `${prefix}.${kind.listKind}`;
    const reference = `#/components/schemas/${name}`;
    const selectable = kind.selectableFields ?? [];
    const selection: JsonObject =
      selectable.length === 0
        ? {}
        : { "x-kubernetes-selectable-fields": selectable.map((fieldPath) => ({ fieldPath })) };
    const metadata = { $ref: this.refer("meta.v1.ObjectMeta") };
    this.#schemas.set(name, {
      ...withIdentity(describeCustom(kind.schema(), metadata), metadata, identityDescriptions),
      "x-kubernetes-group-version-kind": [{ group: kind.group, kind: kind.kind, version: kind.version }],
      ...selection,
    });
    this.#schemas.set(listName, {
      description: `${kind.listKind} is a list of ${kind.kind}`,
      type: "object",
      required: ["items"],
      properties: {
        apiVersion: { description: identityDescriptions.apiVersion, type: "string" },
        items: {
          description: identityDescriptions.items(kind.plural),
          type: "array",
          items: { $ref: reference },
        },
        kind: { description: identityDescriptions.kind, type: "string" },
        metadata: {
          description: identityDescriptions.listMetadata,
          allOf: [{ $ref: this.refer("meta.v1.ListMeta") }],
        },
      },
      "x-kubernetes-group-version-kind": [{ group: kind.group, kind: kind.listKind, version: kind.version }],
      ...selection,
    });
    return { kind: reference, list: `#/components/schemas/${listName}` };
  }

  toJSON(): JsonObject {
    const names = [...this.#schemas.keys()].sort();
    return { schemas: Object.fromEntries(names.map((name) => [name, this.#schemas.get(name) ?? {}])) };
  }

  #describe(recorded: RecordedSchema): JsonObject {
    const { $ref, properties, items, additionalProperties, ...plain } = recorded;
    const described = { ...plain } as JsonObject;
    if ($ref !== undefined) {
      const reference = { $ref: this.refer($ref) };
      // A reference has no siblings: what adds to one stands beside an `allOf` of it.
      return Object.keys(described).length === 0 ? reference : { ...described, allOf: [reference] };
    }
    if (properties) {
      described.properties = Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, this.#describe(property)]),
      );
    }
    if (items) described.items = this.#describe(items);
    if (additionalProperties !== undefined) {
      described.additionalProperties =
        typeof additionalProperties === "boolean"
          ? additionalProperties
          : this.#describe(additionalProperties);
    }
    return described;
  }
}

/** A sentence on a built-in kind, which its own documentation says best. */
function introduction(recorded: RecordedSchema): JsonObject {
  const [of] = recorded["x-kubernetes-group-version-kind"] ?? [];
  if (of === undefined || recorded.description !== undefined) return {};
  return {
    description: `${of.kind} of ${apiVersionOf(of)}. Described at https://kubernetes.io/docs/reference/kubernetes-api/`,
  };
}

/**
 * A custom schema as it is published: as its author wrote it, descriptions included, with what is
 * implied spelled out.
 */
function describeCustom(schema: Schema, metadata: JsonObject): JsonObject {
  const inner = (part: Schema) => describeCustom(part, metadata);
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not, ...plain } = schema;
  const described = parse(stringify(plain as unknown as Json)) as JsonObject;
  if (properties) {
    described.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, inner(property)]),
    );
  }
  if (items) described.items = inner(items);
  if (additionalProperties !== undefined) {
    described.additionalProperties =
      typeof additionalProperties === "boolean" ? additionalProperties : inner(additionalProperties);
  }
  for (const [key, nodes] of Object.entries({ allOf, anyOf, oneOf })) {
    if (nodes) described[key] = nodes.map(inner);
  }
  if (not) described.not = inner(not);
  if (schema["x-kubernetes-int-or-string"] === true && !anyOf && !allOf) {
    described.anyOf = [{ type: "integer" }, { type: "string" }];
  }
  if (schema["x-kubernetes-embedded-resource"] !== true) return described;
  const required = [...new Set([...(schema.required ?? []), "kind", "apiVersion"])];
  return { ...withIdentity(described, metadata, embeddedDescriptions), required };
}

/** Every object has a kind, a version and metadata, whatever its author says of them. */
function withIdentity(
  described: JsonObject,
  metadata: JsonObject,
  words: { readonly apiVersion: string; readonly kind: string; readonly metadata: string },
): JsonObject {
  return {
    ...described,
    type: "object",
    properties: {
      ...(described.properties as JsonObject | undefined),
      apiVersion: { description: words.apiVersion, type: "string" },
      kind: { description: words.kind, type: "string" },
      metadata: { description: words.metadata, allOf: [metadata] },
    },
  };
}
