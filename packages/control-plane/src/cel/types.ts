/**
 * The type of an expression. Types that come from a schema carry the most elements or characters
 * their values can have (`max`), from which the cost of an expression is estimated before it ever
 * runs.
 */
export type Type =
  | { readonly kind: "bool" | "int" | "uint" | "double" | "null" | "timestamp" | "duration" | "type" }
  | { readonly kind: "string" | "bytes" | "dyn"; readonly max?: number }
  | { readonly kind: "list"; readonly element: Type; readonly max?: number }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type; readonly max?: number }
  | ObjectType
  | { readonly kind: "optional"; readonly of: Type }
  | { readonly kind: "opaque"; readonly name: string }
  | { readonly kind: "param"; readonly name: string };

/** An object with declared fields. Fields are named as expressions name them: escaped. */
export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  readonly fields: ReadonlyMap<string, Type>;
}

export const BOOL: Type = { kind: "bool" };
export const INT: Type = { kind: "int" };
export const UINT: Type = { kind: "uint" };
export const DOUBLE: Type = { kind: "double" };
export const STRING: Type = { kind: "string" };
export const BYTES: Type = { kind: "bytes" };
export const NULL: Type = { kind: "null" };
export const DYN: Type = { kind: "dyn" };
export const TIMESTAMP: Type = { kind: "timestamp" };
export const DURATION: Type = { kind: "duration" };
export const TYPE: Type = { kind: "type" };

export function listOf(element: Type, max?: number): Type {
  return max === undefined ? { kind: "list", element } : { kind: "list", element, max };
}

export function mapOf(key: Type, value: Type, max?: number): Type {
  return max === undefined ? { kind: "map", key, value } : { kind: "map", key, value, max };
}

export function optionalOf(of: Type): Type {
  return { kind: "optional", of };
}

export function opaque(name: string): Type {
  return { kind: "opaque", name };
}

export function param(name: string): Type {
  return { kind: "param", name };
}

/** A type as error messages write it. */
export function typeName(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${typeName(type.element)})`;
    case "map":
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
    case "optional":
      return `optional_type(${typeName(type.of)})`;
    case "object":
    case "opaque":
    case "param":
      return type.name;
    case "null":
      return "null";
    default:
      return type.kind;
  }
}

/** What type parameters stand for, found while arguments are matched. */
export type Bindings = Map<string, Type>;

export function resolve(type: Type, bindings: Bindings): Type {
  switch (type.kind) {
    case "param":
      return bindings.get(type.name) ?? DYN;
    case "list":
      return { ...type, element: resolve(type.element, bindings) };
    case "map":
      return { ...type, key: resolve(type.key, bindings), value: resolve(type.value, bindings) };
    case "optional":
      return { ...type, of: resolve(type.of, bindings) };
    default:
      return type;
  }
}

/**
 * Whether a value of type `source` may stand where `target` is asked for. Binds the parameters in
 * `target`.
 */
export function assignable(target: Type, source: Type, bindings: Bindings): boolean {
  if (target.kind === "param") {
    const bound = bindings.get(target.name);
    if (bound === undefined || bound.kind === "dyn") {
      bindings.set(target.name, source);
      return true;
    }
    if (assignable(bound, source, bindings)) return true;
    if (assignable(source, bound, bindings)) {
      bindings.set(target.name, source);
      return true;
    }
    return false;
  }
  if (target.kind === "dyn" || source.kind === "dyn") return true;
  if (source.kind === "param") return true;
  if (source.kind === "null") {
    return ["null", "object", "timestamp", "duration", "opaque", "optional"].includes(target.kind);
  }
  if (target.kind === "null") return ["object", "timestamp", "duration", "opaque"].includes(source.kind);
  if (target.kind !== source.kind) return false;
  switch (target.kind) {
    case "list":
      return source.kind === "list" && assignable(target.element, source.element, bindings);
    case "map":
      return (
        source.kind === "map" &&
        assignable(target.key, source.key, bindings) &&
        assignable(target.value, source.value, bindings)
      );
    case "optional":
      return source.kind === "optional" && assignable(target.of, source.of, bindings);
    case "object":
      return source.kind === "object" && target.name === source.name;
    case "opaque":
      return source.kind === "opaque" && target.name === source.name;
    default:
      return true;
  }
}

export function sameType(a: Type, b: Type): boolean {
  return typeName(a) === typeName(b);
}
