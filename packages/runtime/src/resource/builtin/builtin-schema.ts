import { type BuiltinTypes, builtinTypes } from "@windlass/kinds/schemas";
import { z } from "zod";
import { intOrString, quantity } from "../field-schemas.ts";
import { atomic, listMap, listSet } from "../markers.ts";
import { type FieldNotation, type FieldType, type Merge, parseType, type Scalar } from "./notation.ts";

/** The zod schema of a Kubernetes type: an object schema, with every field of `T` in its shape. */
export type BuiltinSchema<T> = z.ZodObject<BuiltinShape<T>>;

/**
 * The fields of a {@link BuiltinSchema}. One that may be left out may not be `undefined`, as in the
 * types of the kinds.
 */
export type BuiltinShape<T> = {
  -readonly [Field in keyof T]-?: Partial<Pick<T, Field>> extends Pick<T, Field>
    ? z.ZodExactOptional<z.ZodType<Required<T>[Field], Required<T>[Field]>>
    : z.ZodType<T[Field], T[Field]>;
};

/**
 * The zod schema of any type that Kubernetes' own kinds are made of, by the name that Go programs
 * use.
 *
 * It is what an API server publishes of the type: its fields, which of them are required, enums,
 * formats, and how server-side apply merges them. Rules that Kubernetes checks in code, such as
 * those on names, are not in it. Nor are defaults, except for the keys that lists are merged by: a
 * container port without a protocol gets `TCP`.
 *
 * @example
 * z.object({ hosts: z.array(builtin("corev1.HostAlias")).check(listMap("ip")).optional() })
 *
 * @throws TypeError when there is no such type
 */
export function builtin<Name extends keyof BuiltinTypes>(name: Name): BuiltinSchema<BuiltinTypes[Name]> {
  const schema: z.ZodType = new SchemaFamily().schema(name);
  // The notation and the types are generated from one source, which the compiler cannot know.
  return schema as BuiltinSchema<BuiltinTypes[Name]>;
}

/** The schemas of a type and of those it is made of, each made once. */
class SchemaFamily {
  readonly #made = new Map<string, z.ZodObject>();

  schema(name: string): z.ZodObject {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    if (!isBuiltin(name)) {
      throw new TypeError(
        `Kubernetes has no type ${JSON.stringify(name)}; names are like corev1.PodSpec and appsv1.DeploymentStrategy`,
      );
    }
    const { atomic: whole, fields } = parseType(builtinTypes[name]);
    // Getters, which zod calls when the shape is first used: a Pod template is made of 110 types.
    const getters = fields.map((field): [string, PropertyDescriptor] => [
      field.name,
      { enumerable: true, get: () => this.#field(field) },
    ]);
    const bare = z.object(Object.defineProperties({}, Object.fromEntries(getters)));
    // In the metadata and not as a check, because zod does not pick from objects with checks.
    const schema = whole ? bare.meta({ "x-kubernetes-map-type": "atomic" }) : bare;
    this.#made.set(name, schema);
    return schema;
  }

  #field(field: FieldNotation): z.ZodType {
    const merged = withMerge(this.#type(field.type), field.merge);
    const given = field.nullable ? merged.nullable() : merged;
    const filled = field.default === undefined ? given : given.default(field.default);
    return field.required ? filled : filled.exactOptional();
  }

  #type(type: FieldType): z.ZodType {
    switch (type.at) {
      case "scalar":
        return scalarSchemas[type.scalar]();
      case "enum":
        return z.enum(type.values);
      case "type":
        return this.schema(type.name);
      case "list":
        return z.array(this.#type(type.items));
      case "map":
        return z.record(z.string(), this.#type(type.values));
    }
  }
}

function isBuiltin(name: string): name is keyof BuiltinTypes {
  return Object.hasOwn(builtinTypes, name);
}

const scalarSchemas: Readonly<Record<Scalar, () => z.ZodType>> = {
  string: () => z.string(),
  boolean: () => z.boolean(),
  int32: () => z.int32(),
  int64: () => z.int(),
  double: () => z.float64(),
  byte: () => z.base64(),
  "date-time": () => z.iso.datetime({ offset: true }),
  quantity,
  "int-or-string": intOrString,
  object: () => z.looseObject({}),
  any: () => z.unknown(),
};

function withMerge(schema: z.ZodType, merge: Merge | undefined): z.ZodType {
  switch (merge?.as) {
    case undefined:
      return schema;
    case "atomic":
      return schema.check(atomic());
    case "granular":
      return schema.meta({ "x-kubernetes-map-type": "granular" });
    case "set":
      return (schema as z.ZodType<readonly unknown[]>).check(listSet());
    case "by":
      return (schema as z.ZodType<readonly unknown[]>).check(listMap(...merge.keys));
  }
}
