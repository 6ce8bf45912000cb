import { isRecord } from "@windlass/kinds/json";
import { type $ZodType, type $ZodTypes, globalRegistry, safeParse } from "zod/v4/core";
import { markOf } from "./markers.ts";
import { Problems } from "./refusal.ts";
import { checksOf, enumSchema, numberSchema, stringSchema, templateSchema } from "./scalar.ts";
import { fillDefaults, own, type StructuralSchema, setOwn, type ValidationRule } from "./structural.ts";
import {
  type DiscriminatedDef,
  discriminatedUnionSchema,
  mergeObjects,
  nullable,
  plainUnionSchema,
} from "./union.ts";
import type { Walk } from "./zod-walk.ts";

/**
 * Nodes deeper than this are treated as a schema that builds itself again each time it is asked.
 */
const depthLimit = 64;

/**
 * The structural schema of a zod schema: what one may write, with its defaults. What the API server
 * would refuse, and what it would silently not enforce, is added to `problems`, with the path of
 * the field.
 */
export function structuralSchema(
  schema: $ZodType,
  path: string,
  problems = new Problems(),
): StructuralSchema {
  const open = new Set<$ZodType>();
  const walk: Walk = {
    problems,
    node(part, at) {
      if (open.has(part) || open.size > depthLimit) {
        problems.add(
          at,
          "the schema contains itself, which a CRD cannot express; keep anything with z.looseObject({}) or z.unknown()",
        );
        return { "x-kubernetes-preserve-unknown-fields": true };
      }
      open.add(part);
      const node = layers(part, at, walk);
      open.delete(part);
      return node;
    },
  };
  return walk.node(schema, path);
}

function layers(schema: $ZodType, path: string, walk: Walk): StructuralSchema {
  const node = bare(schema, path, walk);
  applyChecks(node, schema, path, walk);
  applyMetadata(node, schema, path, walk);
  return node;
}

function bare(schema: $ZodType, path: string, walk: Walk): StructuralSchema {
  const def = (schema as $ZodTypes)._zod.def;
  const { problems } = walk;
  switch (def.type) {
    case "string":
      refuseCoercion(def, path, problems);
      return stringSchema(schema, path, problems);
    case "number":
      refuseCoercion(def, path, problems);
      return numberSchema(schema, path, problems);
    case "boolean":
      refuseCoercion(def, path, problems);
      return { type: "boolean" };
    case "template_literal":
      return templateSchema(schema, path, problems);
    case "literal":
      return enumSchema(def.values, path, problems);
    case "enum":
      return enumSchema([...(schema._zod.values ?? [])], path, problems);
    case "any":
    case "unknown":
      return { "x-kubernetes-preserve-unknown-fields": true };
    case "object":
      return objectSchema(def, path, walk);
    case "record":
      return recordSchema(def, path, walk);
    case "array": {
      const node: StructuralSchema = { type: "array", items: walk.node(def.element, `${path}[]`) };
      return node;
    }
    case "union":
      return "discriminator" in def
        ? discriminatedUnionSchema(def as DiscriminatedDef, path, walk)
        : plainUnionSchema(def.options, path, walk);
    case "intersection":
      return mergeObjects(walk.node(def.left, path), walk.node(def.right, path), path, problems);
    case "nullable":
      return nullable(walk.node(def.innerType, path));
    case "optional":
    case "nonoptional":
    case "readonly":
      return walk.node(def.innerType, path);
    case "lazy":
      return walk.node(def.getter(), path);
    case "default":
    case "prefault":
      return defaulted(def, path, walk);
    default:
      problems.add(path, refusals[def.type] ?? `z.${def.type} has no form in a CRD`);
      return { "x-kubernetes-preserve-unknown-fields": true };
  }
}

/** Why a zod type cannot be a field of a Kubernetes object, and what can. */
const refusals: Readonly<Record<string, string>> = {
  bigint: "JSON has no bigint; use z.int()",
  date: "JSON has no dates; use z.iso.datetime({ offset: true })",
  map: "JSON has no maps; use z.record(z.string(), …)",
  set: "JSON has no sets, and uniqueItems is forbidden in a CRD; use z.array(…).check(listSet())",
  tuple: "a CRD's list has one type of item; use z.object({ … }) with named fields",
  transform: "the API server stores what was written and runs no transform; transform in the reconciler",
  pipe: "the API server stores what was written and runs no transform, codec or coercion; describe the stored form",
  catch: "the API server has no .catch(): it refuses bad values; use .default(…) for absent ones",
  null: "a field that is always null carries no information; use .nullable() on its type",
  undefined: "a field that is always absent carries no information; leave it out",
  void: "a field that is always absent carries no information; leave it out",
  never: "a field that is always absent carries no information; leave it out",
  nan: "JSON has no NaN; use z.number()",
  symbol: "JSON has no symbols; use z.enum([…])",
  function: "an object holds data, not functions",
  promise: "an object holds data, not promises",
  file: "an object holds data, not files; use z.base64()",
  custom: "z.custom and z.instanceof have no form in a CRD; describe the JSON, and use cel(…) for rules",
  success: "z.success has no form in a CRD; use z.boolean()",
};

function refuseCoercion(def: { readonly coerce?: boolean }, path: string, problems: Problems): void {
  if (def.coerce === true) problems.add(path, "the API server does not coerce; use the plain type");
}

interface ObjectDef {
  readonly shape: Readonly<Record<string, $ZodType>>;
  readonly catchall?: $ZodType | undefined;
}

function objectSchema(def: ObjectDef, path: string, walk: Walk): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  const required: string[] = [];
  for (const [name, part] of Object.entries(def.shape)) {
    setOwn(properties, name, walk.node(part, `${path}.${name}`));
    if (part._zod.optin === undefined) required.push(name);
  }
  const node: StructuralSchema = { type: "object" };
  if (Object.keys(properties).length > 0) node.properties = properties;
  if (required.length > 0) node.required = required;
  const rest = def.catchall?._zod.def.type;
  if (rest === "unknown" || rest === "any") node["x-kubernetes-preserve-unknown-fields"] = true;
  else if (rest !== undefined && rest !== "never") {
    walk.problems.add(
      path,
      "a CRD's object has either named fields or free ones of one type, not both; move the free ones into a z.record(…) field",
    );
  }
  return node;
}

interface RecordDef {
  readonly keyType: $ZodType;
  readonly valueType: $ZodType;
  readonly partial?: boolean;
}

function recordSchema(def: RecordDef, path: string, walk: Walk): StructuralSchema {
  const keys = def.keyType._zod.values;
  if (keys !== undefined) {
    const shape = Object.fromEntries([...keys].map((key) => [String(key), def.valueType]));
    const node = objectSchema({ shape }, path, walk);
    if (def.partial === true) delete node.required;
    return node;
  }
  if (
    def.keyType._zod.def.type !== "string" ||
    checksOf(def.keyType).length > 0 ||
    "format" in def.keyType._zod.def
  ) {
    walk.problems.add(
      path,
      "a CRD cannot constrain the keys of a map; use z.record(z.string(), …) with a rule such as cel(\"self.all(key, key.matches('…'))\")",
    );
  }
  return { type: "object", additionalProperties: walk.node(def.valueType, `${path}.*`) };
}

interface DefaultDef {
  readonly type: "default" | "prefault";
  readonly innerType: $ZodType;
  readonly defaultValue: unknown;
}

function defaulted(def: DefaultDef, path: string, walk: Walk): StructuralSchema {
  const { problems } = walk;
  const node = walk.node(def.innerType, path);
  const value = toJson(def.defaultValue);
  if (value === undefined) {
    problems.add(path, "the default is not JSON");
    return node;
  }
  if (JSON.stringify(value) !== JSON.stringify(toJson(def.defaultValue))) {
    problems.add(path, "the default changes from one call to the next; a CRD holds one constant value");
    return node;
  }
  if (value === null) {
    problems.add(path, "the API server takes a default of null for no default at all; use .nullish()");
    return node;
  }
  const filled = fillDefaults(value, node);
  const misfits = misfitsOf(def.innerType, filled);
  if (misfits.length > 0) {
    for (const { at, message } of misfits)
      problems.add([path, ...at].join("."), `the default does not fit its own schema: ${message}`);
  } else {
    const unknown = unknownField(value, node, path);
    if (unknown !== undefined)
      problems.add(unknown, "the default sets a field that the schema does not have");
  }
  return { ...node, default: value };
}

interface SchemaConflict {
  readonly at: readonly string[];
  readonly message: string;
}

function misfitsOf(schema: $ZodType, value: unknown): readonly SchemaConflict[] {
  try {
    const { error } = safeParse(schema, value);
    return (error?.issues ?? []).map((issue) => ({ at: issue.path.map(String), message: issue.message }));
  } catch (error) {
    // An intersection whose sides make different values of one field throws rather than to find
    // fault.
    return [{ at: [], message: error instanceof Error ? error.message : String(error) }];
  }
}

function toJson(value: unknown): unknown {
  if (value === undefined || typeof value === "function" || typeof value === "bigint") return undefined;
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function unknownField(value: unknown, node: StructuralSchema, path: string): string | undefined {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return undefined;
    return value.map((item) => unknownField(item, items, `${path}[]`)).find((found) => found !== undefined);
  }
  if (!isRecord(value) || node["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
  for (const [name, field] of Object.entries(value)) {
    const child = own(node.properties, name) ?? node.additionalProperties;
    const found = child === undefined ? `${path}.${name}` : unknownField(field, child, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Checks that a structural schema expresses, per type; string and number ones are read where the
 * node is made.
 */
const expressible = new Set([
  "min_length",
  "max_length",
  "length_equals",
  "string_format",
  "number_format",
  "less_than",
  "greater_than",
  "multiple_of",
]);

function applyChecks(node: StructuralSchema, schema: $ZodType, path: string, walk: Walk): void {
  for (const check of checksOf(schema)) {
    const mark = markOf(check);
    if (mark?.kind === "rule") {
      node["x-kubernetes-validations"] = [...(node["x-kubernetes-validations"] ?? []), { ...mark.rule }];
    } else if (mark?.kind === "keywords") {
      Object.assign(node, structuredClone(mark.keywords));
    } else if (mark?.kind === "atomic") {
      node[node.type === "array" ? "x-kubernetes-list-type" : "x-kubernetes-map-type"] = "atomic";
    } else {
      applyLength(node, check._zod.def as LengthCheck);
      if (!expressible.has(check._zod.def.check)) {
        walk.problems.add(path, codeChecks[check._zod.def.check] ?? codeChecks.custom ?? "");
      }
    }
  }
}

interface LengthCheck {
  readonly check: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
}

function applyLength(node: StructuralSchema, check: LengthCheck): void {
  if (node.type !== "array") return;
  const least = check.minimum ?? check.length;
  const most = check.maximum ?? check.length;
  if (least !== undefined) node.minItems = Math.max(least, node.minItems ?? 0);
  if (most !== undefined) node.maxItems = Math.min(most, node.maxItems ?? most);
}

const codeChecks: Readonly<Record<string, string>> = {
  custom:
    'the API server cannot run a .refine() or .check() function; write the rule in CEL: .check(cel("…"))',
  overwrite: "the API server stores what was written: it does not trim, change case or otherwise rewrite",
};

/** The keywords that `.meta()` may add. Everything else there is for other readers. */
const metadataKeywords = new Set([
  "title",
  "description",
  "format",
  "minProperties",
  "maxProperties",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
]);

function applyMetadata(node: StructuralSchema, schema: $ZodType, path: string, walk: Walk): void {
  const metadata: Readonly<Record<string, unknown>> = globalRegistry.get(schema) ?? {};
  for (const [keyword, value] of Object.entries(metadata)) {
    if (keyword === "x-kubernetes-validations") {
      const rules = value as ValidationRule[];
      node[keyword] = [...(node[keyword] ?? []), ...rules];
    } else if (metadataKeywords.has(keyword)) {
      Object.assign(node, { [keyword]: value });
    } else if (keyword.startsWith("x-kubernetes-")) {
      walk.problems.add(path, `the API server does not know ${keyword}`);
    } else if (keyword === "uniqueItems") {
      walk.problems.add(path, "uniqueItems is forbidden in a CRD; use .check(listSet())");
    }
  }
  if (node["x-kubernetes-int-or-string"] === true) {
    delete node.type;
    delete node.format;
    delete node.anyOf;
  }
}
