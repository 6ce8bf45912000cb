import { type OpenApiSchema, referenced } from "./openapi-schema.ts";

/**
 * The type of a field as the server returns it, and as one may send it. Equal where no default is
 * filled in.
 */
export interface TypePair {
  readonly read: string;
  readonly write: string;
}

/** How schemas outside the one being printed are named. */
export interface TypeNames {
  /** The types for a `$ref`, or undefined to print `unknown`. */
  reference(name: string): TypePair | undefined;
  /**
   * The type for a nested object's metadata-like or well-known schema; undefined to print its
   * fields.
   */
  wellKnown(schema: OpenApiSchema): string | undefined;
}

interface Member {
  readonly name: string;
  readonly type: TypePair;
  readonly required: { readonly read: boolean; readonly write: boolean };
}

/**
 * Prints schemas as readonly interfaces. Nested objects become interfaces of their own, named by
 * their path; a second one, `…Input`, is printed only where what one sends differs from what the
 * server returns: what has a default may be left out, and what is optional may be undefined.
 */
export class Declarations {
  readonly #names: TypeNames;
  readonly #taken = new Set<string>();
  readonly #printed: string[] = [];

  constructor(names: TypeNames, reserved: Iterable<string> = []) {
    this.#names = names;
    for (const name of reserved) this.#taken.add(name);
  }

  get text(): string {
    return this.#printed.join("\n");
  }

  /** The type of a schema; interfaces it needs are printed on the way, named from `hint`. */
  type(schema: OpenApiSchema, hint: string): TypePair {
    const pair = this.#bare(schema, hint);
    return schema.nullable === true ? both(pair, (type) => `${type} | null`) : pair;
  }

  /** Prints an interface with exactly this name (no collision check: the caller owns its names). */
  declare(name: string, schema: OpenApiSchema): TypePair {
    const members = this.members(schema, name);
    const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
    // What one sends may have a field that is undefined: it is left out.
    const differs = members.some(
      (member) => member.type.read !== member.type.write || !member.required.write,
    );
    this.print(name, members, "read", open);
    if (!differs) return same(name);
    const input = this.#free(`${name}Input`);
    this.print(input, members, "write", open);
    return { read: name, write: input };
  }

  members(schema: OpenApiSchema, hint: string): Member[] {
    const required = new Set(schema.required ?? []);
    return Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const defaulted = property.default !== undefined;
      return {
        name,
        type: this.type(property, `${hint}${pascal(name)}`),
        required: {
          read: required.has(name) || defaulted,
          write: required.has(name) && !defaulted,
        },
      };
    });
  }

  print(name: string, members: readonly Member[], side: "read" | "write", open: boolean): void {
    this.#taken.add(name);
    const orUndefined = side === "write" ? " | undefined" : "";
    const lines = members.map(({ name: field, type, required }) =>
      required[side]
        ? `  readonly ${propertyName(field)}: ${type[side]};`
        : `  readonly ${propertyName(field)}?: ${type[side]}${orUndefined};`,
    );
    if (open) lines.push("  readonly [field: string]: unknown;");
    this.#printed.push(`export interface ${name} {\n${lines.join("\n")}${lines.length > 0 ? "\n" : ""}}\n`);
  }

  #bare(schema: OpenApiSchema, hint: string): TypePair {
    const known = this.#names.wellKnown(schema);
    if (known !== undefined) return same(known);
    const reference = referenced(schema);
    if (reference !== undefined) return this.#names.reference(reference) ?? same("unknown");
    if (schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string") {
      return same("number | string");
    }
    if (schema.enum !== undefined && schema.enum.length > 0) return same(literals(schema.enum));
    switch (schema.type) {
      case "string":
      case "boolean":
        return same(schema.type);
      case "integer":
      case "number":
        return same("number");
      case "array": {
        const items = this.type(schema.items ?? {}, hint);
        return both(items, (type) => (/[ |]/.test(type) ? `readonly (${type})[]` : `readonly ${type}[]`));
      }
      case "object":
        return this.#object(schema, hint);
      default:
        return same("unknown");
    }
  }

  #object(schema: OpenApiSchema, hint: string): TypePair {
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
      return this.declare(this.#free(hint), schema);
    }
    const values = schema.additionalProperties;
    if (typeof values === "object") {
      return both(this.type(values, `${hint}Value`), (type) => this.#mapOf(type));
    }
    return same(this.#mapOf("unknown"));
  }

  /** A kind that is called Record hides the type of that name. */
  #mapOf(type: string): string {
    const isHidden = this.#taken.has("Record") || this.#taken.has("Readonly");
    return isHidden ? `{ readonly [name: string]: ${type} }` : `Readonly<Record<string, ${type}>>`;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let suffix = 2; this.#taken.has(name); suffix++) name = `${wanted}${suffix}`;
    this.#taken.add(name);
    return name;
  }
}

/** A type that is the same on both sides. */
export function same(type: string): TypePair {
  return { read: type, write: type };
}

function both(pair: TypePair, wrap: (type: string) => string): TypePair {
  return { read: wrap(pair.read), write: wrap(pair.write) };
}

function literals(values: readonly unknown[]): string {
  return [...new Set(values.map((value) => JSON.stringify(value)))].join(" | ");
}

/** `maxSurge` → `MaxSurge`; characters that no identifier may hold are dropped. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
}
