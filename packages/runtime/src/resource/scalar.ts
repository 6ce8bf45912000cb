import { type $ZodCheck, type $ZodType, toJSONSchema } from "zod/v4/core";
import { beyondRe2, re2Source } from "./pattern.ts";
import type { Problems } from "./refusal.ts";
import type { StructuralSchema } from "./structural.ts";
import { nullable } from "./union.ts";
import { widths } from "./widths.ts";

/**
 * String formats that mean the same to zod and to the API server; all others are expressed by their
 * pattern. (`byte`, which looks like base64, takes no empty string there.)
 */
const sharedFormats = new Set([
  "email",
  "uri",
  "uuid",
  "date-time",
  "date",
  "ipv4",
  "ipv6",
  "hostname",
  "mac",
]);

interface StringConstraint {
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly version?: string;
  readonly protocol?: RegExp;
  readonly hostname?: RegExp;
}

/** A string with its lengths, format and patterns. */
export function stringSchema(schema: $ZodType, path: string, problems: Problems): StructuralSchema {
  const json = toJSONSchema(schema, { target: "openapi-3.0", io: "input" });
  const node: StructuralSchema = { type: "string" };
  if (json.minLength !== undefined) node.minLength = json.minLength;
  if (json.maxLength !== undefined) node.maxLength = json.maxLength;
  const constraints: StringConstraint[] = [
    schema._zod.def as StringConstraint,
    ...checksOf(schema).map((check) => check._zod.def as StringConstraint),
  ];
  const patterns: string[] = [];
  for (const constraint of constraints) {
    const format = constraint.version === undefined ? serverFormat(constraint, json.format) : undefined;
    if (format !== undefined) node.format = format;
    if (constraint.protocol !== undefined) {
      patterns.push(`^(?:${constraint.protocol.source.replace(/^\^|\$$/g, "")}):`);
    }
    if (constraint.hostname !== undefined) {
      problems.add(
        path,
        "the API server cannot check the host of a URL by itself; use z.url({ protocol }) or .regex(…)",
      );
    }
    if (format === undefined) {
      if (constraint.pattern !== undefined) patterns.push(re2Source(constraint.pattern));
      else if (constraint.format !== undefined) {
        problems.add(path, `the API server cannot check the format ${constraint.format}; use .regex(…)`);
      }
    }
  }
  return withPatterns(node, patterns, path, problems);
}

/** A template literal: a string with one pattern. */
export function templateSchema(schema: $ZodType, path: string, problems: Problems): StructuralSchema {
  const { pattern } = toJSONSchema(schema, { target: "openapi-3.0", io: "input" });
  return withPatterns({ type: "string" }, pattern === undefined ? [] : [pattern], path, problems);
}

function serverFormat(constraint: StringConstraint, emitted: string | undefined): string | undefined {
  if (constraint.format === undefined) return undefined;
  const format = { url: "uri", datetime: "date-time" }[constraint.format] ?? constraint.format;
  return format === emitted && sharedFormats.has(format) ? format : undefined;
}

function withPatterns(
  node: StructuralSchema,
  patterns: readonly string[],
  path: string,
  problems: Problems,
): StructuralSchema {
  for (const pattern of patterns) {
    const fault = beyondRe2(pattern);
    if (fault === undefined) continue;
    problems.add(
      path,
      `the pattern ${pattern} uses ${fault}, which the API server's regular expressions (RE2) do not have; rewrite it, or use cel(…)`,
    );
  }
  const [first, ...more] = patterns;
  if (first !== undefined && more.length === 0) node.pattern = first;
  else if (first !== undefined) node.allOf = patterns.map((pattern) => ({ pattern }));
  return node;
}

/** A number or an integer. Bounds that only say "as wide as the type" become a format. */
export function numberSchema(schema: $ZodType, path: string, problems: Problems): StructuralSchema {
  const json = toJSONSchema(schema, { target: "openapi-3.0", io: "input" });
  const integer = json.type === "integer";
  const node: StructuralSchema = { type: integer ? "integer" : "number" };
  const formats = [schema._zod.def, ...checksOf(schema).map((check) => check._zod.def)].map(
    (def) => (def as { readonly format?: string }).format,
  );
  if (formats.includes("int32")) node.format = "int32";
  else if (integer) node.format = "int64";
  else if (formats.includes("float32")) node.format = "float";
  else if (formats.includes("float64")) node.format = "double";
  const width = widths[formats.includes("float32") ? "float" : (node.format ?? "")];
  if (json.minimum !== undefined && json.minimum !== width?.[0]) node.minimum = json.minimum;
  if (json.maximum !== undefined && json.maximum !== width?.[1]) node.maximum = json.maximum;
  // In OpenAPI 3.0 these are flags beside the bound, which is what the API server reads.
  if ((json.exclusiveMinimum as unknown) === true) node.exclusiveMinimum = true;
  if ((json.exclusiveMaximum as unknown) === true) node.exclusiveMaximum = true;
  if (json.multipleOf !== undefined) {
    node.multipleOf = json.multipleOf;
    if (!Number.isInteger(json.multipleOf))
      problems.add(
        path,
        `the API server checks a step of ${json.multipleOf} wrongly where the value is a whole number; use a smaller unit and z.int(), or leave the step out`,
      );
  }
  return node;
}

/** Literals and enums: values of one scalar type. */
export function enumSchema(values: readonly unknown[], path: string, problems: Problems): StructuralSchema {
  const present = values.filter((value) => value !== null);
  const kinds = new Set(present.map((value) => typeof value));
  const [kind] = kinds;
  if (kinds.size !== 1 || !(kind === "string" || kind === "number" || kind === "boolean")) {
    problems.add(path, "the values must all be strings, all numbers or all booleans: a field has one type");
    return { type: "string" };
  }
  const type = kind === "number" ? (present.every(Number.isInteger) ? "integer" : "number") : kind;
  const node: StructuralSchema = { type, enum: [...new Set(present)] };
  return present.length === values.length ? node : nullable(node);
}

/** The checks put on a schema, in order. */
export function checksOf(schema: $ZodType): readonly $ZodCheck<never>[] {
  return schema._zod.def.checks ?? [];
}
