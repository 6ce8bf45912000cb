import { isDeepStrictEqual } from "node:util";
import type { $ZodType } from "zod/v4/core";
import { celName } from "./cel-rules.ts";
import { isVisible } from "./cel-types.ts";
import type { Problems } from "./refusal.ts";
import { own, type StructuralSchema, setOwn, type ValidationRule } from "./structural.ts";
import { widths } from "./widths.ts";
import type { Walk } from "./zod-walk.ts";

/** A union that is not distinguished by a field: of values, of scalars, or of a type and null. */
export function plainUnionSchema(options: readonly $ZodType[], path: string, walk: Walk): StructuralSchema {
  const kinds = options.map((option) => option._zod.def.type);
  const present = options.filter((_, index) => kinds[index] !== "null" && kinds[index] !== "undefined");
  const withNull = kinds.includes("null");
  const nodes = present.map((option) => walk.node(option, path));
  const node = alternatives(nodes, path, walk.problems);
  return withNull || nodes.some((one) => one.nullable === true) ? nullable(node) : node;
}

/**
 * The node with null allowed as well. The API server never takes null for a field with an enum, not
 * even when null is listed, so the values are said in another way: strings by a pattern, numbers by
 * bounds. Neither is checked on null.
 */
export function nullable({ enum: values, ...node }: StructuralSchema): StructuralSchema {
  const open: StructuralSchema = { ...node, nullable: true };
  if (values === undefined) return open;
  if (node.type === "string")
    open.pattern = `^(?:${values.map((value) => escaped(String(value))).join("|")})$`;
  else if (node.type === "boolean")
    open["x-kubernetes-validations"] = [
      { rule: values.map((value) => `self == ${JSON.stringify(value)}`).join(" || ") },
    ];
  else open.anyOf = values.map((value) => ({ minimum: Number(value), maximum: Number(value) }));
  return open;
}

function escaped(literal: string): string {
  return literal.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}

function alternatives(
  nodes: readonly StructuralSchema[],
  path: string,
  problems: Problems,
): StructuralSchema {
  const [first, ...others] = nodes;
  if (first === undefined) {
    problems.add(path, "the union has no member with a type");
    return { "x-kubernetes-preserve-unknown-fields": true };
  }
  if (others.length === 0) return first;
  const plain = nodes.map(
    ({ nullable: _nullable, title: _title, description: _description, ...rest }) => rest,
  );
  if (plain.some((node) => node.default !== undefined || node["x-kubernetes-validations"] !== undefined)) {
    problems.add(path, "a member of a union cannot have a default or a rule of its own; put it on the union");
  }
  const types = new Set(plain.map((node) => node.type));
  const scalar = plain.every(
    (node) => node.type !== undefined && node.type !== "object" && node.type !== "array",
  );
  if (plain.every((node) => isDeepStrictEqual(node, plain[0]))) return first;
  if (!scalar) {
    const objects = plain.every((node) => node.type === "object");
    problems.add(
      path,
      objects
        ? 'a union of objects needs a field that tells them apart; use z.discriminatedUnion("type", […]), or one object with optional fields'
        : "a field of a CRD has one type; split the union into one optional field for each",
    );
    return { "x-kubernetes-preserve-unknown-fields": true };
  }
  if (types.size === 1) return sameType(plain);
  if (types.size === 2 && types.has("integer") && types.has("string"))
    return intOrString(plain, path, problems);
  problems.add(
    path,
    `a field of a CRD has one type, not ${[...types].join(" or ")}; only z.union([z.int(), z.string()]) may be mixed`,
  );
  return { "x-kubernetes-preserve-unknown-fields": true };
}

function sameType(nodes: readonly StructuralSchema[]): StructuralSchema {
  const { type } = nodes[0] ?? {};
  const node: StructuralSchema = type === undefined ? {} : { type };
  if (nodes.every((one) => one.enum !== undefined && Object.keys(one).length === 2)) {
    return { ...node, enum: [...new Set(nodes.flatMap((one) => one.enum ?? []))] };
  }
  const arms = nodes.map(({ type: _type, ...validations }) => withoutWidth(validations));
  // Of a number's formats the server makes nothing but its width, and that not where there is no
  // type beside it.
  const [format, ...more] = new Set(nodes.map((one) => one.format));
  if (type !== "string" && format !== undefined && more.length === 0) node.format = format;
  // A member without constraints admits every value of the type: the others add nothing.
  return arms.some((arm) => Object.keys(arm).length === 0) ? node : { ...node, anyOf: arms };
}

/** The same, with what a number's format says said by its bounds. */
function withoutWidth({ format, ...validations }: StructuralSchema): StructuralSchema {
  const width = format === undefined ? undefined : widths[format];
  if (format === undefined || width === undefined)
    return format === undefined ? validations : { ...validations, format };
  if (format === "int64" || format === "double") return validations;
  return { minimum: width[0], maximum: width[1], ...validations };
}

function intOrString(nodes: readonly StructuralSchema[], path: string, problems: Problems): StructuralSchema {
  const merged: StructuralSchema = { "x-kubernetes-int-or-string": true };
  for (const { type, format: _format, ...validations } of nodes) {
    for (const keyword of Object.keys(validations)) {
      if (keyword !== "enum" && !(keyword in merged)) continue;
      problems.add(
        path,
        `the members of an integer-or-string cannot use ${keyword}; use cel(…), where type(self) tells`,
      );
    }
    if (nodes.filter((one) => one.type === type).length > 1) {
      problems.add(path, `the union has more than one ${type}; an integer-or-string has one of each`);
    }
    Object.assign(merged, validations);
  }
  return merged;
}

/** What zod keeps of a discriminated union. */
export interface DiscriminatedDef {
  readonly discriminator: string;
  readonly options: readonly $ZodType[];
}

interface Arm {
  readonly values: readonly unknown[];
  readonly node: StructuralSchema;
}

/**
 * A union distinguished by a field. A structural schema has one set of fields, so those of every
 * arm move to the object itself; rules say which of them each value of the discriminator requires
 * and which it forbids. They are CEL rather than `oneOf`, because then the server's answer names
 * the field.
 */
export function discriminatedUnionSchema(def: DiscriminatedDef, path: string, walk: Walk): StructuralSchema {
  const { discriminator } = def;
  const { problems } = walk;
  const arms: Arm[] = [];
  for (const option of def.options) {
    const node = walk.node(option, path);
    const selector = own(node.properties, discriminator);
    if (node.type !== "object" || selector?.enum === undefined || selector.nullable === true) {
      problems.add(path, `each arm must be a z.object with a literal ${discriminator}`);
      continue;
    }
    if (node["x-kubernetes-preserve-unknown-fields"] === true) {
      problems.add(path, "an arm cannot keep unknown fields; put them into a field of their own");
    }
    if (node["x-kubernetes-validations"] !== undefined) {
      problems.add(
        path,
        "an arm cannot have a rule of its own, nor be a union; put the rule on a field of the arm",
      );
    }
    arms.push({ values: selector.enum, node });
  }
  const properties = hoisted(arms, discriminator, path, problems);
  const required = Object.keys(properties).filter((name) =>
    arms.every((arm) => arm.node.required?.includes(name) === true),
  );
  if (!required.includes(discriminator)) {
    problems.add(`${path}.${discriminator}`, "the field that tells the arms apart must be required in each");
  }
  const node: StructuralSchema = { type: "object", properties, required };
  const rules = Object.keys(properties).flatMap((name) =>
    fieldRules(arms, discriminator, name, path, problems),
  );
  if (rules.length > 0) node["x-kubernetes-validations"] = rules;
  return node;
}

function hoisted(
  arms: readonly Arm[],
  discriminator: string,
  path: string,
  problems: Problems,
): Record<string, StructuralSchema> {
  const properties: Record<string, StructuralSchema> = {};
  const values = arms.flatMap((arm) => arm.values);
  setOwn(properties, discriminator, {
    ...own(arms[0]?.node.properties, discriminator),
    enum: [...new Set(values)],
  });
  for (const { node } of arms) {
    for (const [name, field] of Object.entries(node.properties ?? {})) {
      if (name === discriminator) continue;
      const known = own(properties, name);
      if (known !== undefined && !isDeepStrictEqual(known, field)) {
        problems.add(
          `${path}.${name}`,
          "two arms give this field different schemas, and a CRD's field has one; rename it, or nest it under the arm's own field",
        );
      }
      if (field.default !== undefined && !arms.every((arm) => own(arm.node.properties, name) !== undefined)) {
        problems.add(
          `${path}.${name}`,
          "a default in one arm would be filled in for all; put the field into an object of the arm's own",
        );
      }
      setOwn(properties, name, field);
    }
  }
  return properties;
}

/** The rules for a field that some arms require or do not have. */
function fieldRules(
  arms: readonly Arm[],
  discriminator: string,
  name: string,
  path: string,
  problems: Problems,
): ValidationRule[] {
  const having = arms.filter((arm) => own(arm.node.properties, name) !== undefined);
  const requiring = arms.filter((arm) => arm.node.required?.includes(name) === true);
  const selector = celName(discriminator);
  const field = celName(name);
  const rules: ValidationRule[] = [];
  if (requiring.length === arms.length || (requiring.length === 0 && having.length === arms.length))
    return rules;
  if (selector === undefined || field === undefined) {
    problems.add(
      `${path}.${name}`,
      "the name of a field in a discriminated union must be letters, digits, _ - . or /",
    );
    return rules;
  }
  const node = own(having[0]?.node.properties, name);
  if (node !== undefined && !isVisible(node)) {
    problems.add(
      `${path}.${name}`,
      "a field that some arms lack must have a type, for the rules that tell the arms apart to see it; use z.looseObject({}) for anything",
    );
    return rules;
  }
  const fieldPath = /^\w+$/.test(name) ? `.${name}` : `['${name}']`;
  if (requiring.length > 0) {
    rules.push({
      rule: `!(${selects(selector, requiring)}) || has(self.${field})`,
      message: `is required when ${discriminator} is ${listed(requiring)}`,
      reason: "FieldValueRequired",
      fieldPath,
    });
  }
  if (having.length < arms.length) {
    rules.push({
      rule: `!has(self.${field}) || ${selects(selector, having)}`,
      message: `may only be set when ${discriminator} is ${listed(having)}`,
      reason: "FieldValueForbidden",
      fieldPath,
    });
  }
  return rules;
}

function selects(selector: string, arms: readonly Arm[]): string {
  return arms
    .flatMap((arm) => arm.values)
    .map((value) => `self.${selector} == ${JSON.stringify(value)}`)
    .join(" || ");
}

function listed(arms: readonly Arm[]): string {
  return arms
    .flatMap((arm) => arm.values)
    .map(String)
    .join(" or ");
}

/** The object that is both: fields of either side, where none contradicts the other. */
export function mergeObjects(
  left: StructuralSchema,
  right: StructuralSchema,
  path: string,
  problems: Problems,
): StructuralSchema {
  const mergeable = (node: StructuralSchema) =>
    node.type === "object" && node.additionalProperties === undefined;
  if (!mergeable(left) || !mergeable(right)) {
    problems.add(path, "only objects with named fields can be intersected; write one schema for the field");
    return left;
  }
  const properties: Record<string, StructuralSchema> = { ...left.properties };
  for (const [name, field] of Object.entries(right.properties ?? {})) {
    const known = own(properties, name);
    if (known !== undefined && !isDeepStrictEqual(known, field)) {
      problems.add(
        `${path}.${name}`,
        "both sides of the intersection define this field, differently; define it once",
      );
    }
    setOwn(properties, name, field);
  }
  const merged: StructuralSchema = { ...left, ...right, properties };
  const required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
  if (required.length > 0) merged.required = required;
  const rules = [...(left["x-kubernetes-validations"] ?? []), ...(right["x-kubernetes-validations"] ?? [])];
  if (rules.length > 0) merged["x-kubernetes-validations"] = rules;
  return merged;
}
