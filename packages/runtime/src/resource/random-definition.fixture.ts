import * as fc from "fast-check";
import { z } from "zod";
import {
  atomic,
  cel,
  duration,
  embeddedResource,
  immutable,
  intOrString,
  listMap,
  listSet,
  type Marker,
  quantity,
} from "./index.ts";

const scalars: fc.Arbitrary<z.ZodType> = fc.constantFrom<z.ZodType>(
  z.string(),
  z.string().max(64),
  z
    .string()
    .min(2)
    .max(8)
    .regex(/^[a-z]+$/),
  z.string().length(4),
  z.email(),
  z.url(),
  z.uuid(),
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.iso.datetime({ offset: true }),
  z.iso.date(),
  z.iso.time(),
  z.iso.duration(),
  z.base64(),
  z.templateLiteral(["v", z.int()]),
  z.int(),
  z.int32().min(-5).lt(100),
  z.uint32(),
  z.number().multipleOf(0.5),
  z.float64().positive(),
  z.boolean(),
  z.enum(["A", "B"]),
  z.literal(["x", null]),
  z.literal([1, 2]),
  z.literal(true),
  intOrString(),
  quantity(),
  duration(),
  embeddedResource(),
  z.unknown(),
  z.looseObject({}),
);

const listMarkers: readonly ((() => Marker<readonly unknown[]>) | undefined)[] = [
  undefined,
  undefined,
  () => listSet(),
  () => listMap("name"),
  () => listMap("name", "type"),
  () => atomic(),
];

const markers: readonly ((() => Marker) | undefined)[] = [
  undefined,
  undefined,
  undefined,
  undefined,
  () => immutable(),
  () => atomic(),
  () => cel("true"),
  () => cel("self != oldSelf || true", { message: "never" }),
  () => cel("has(self.name)", { message: "needs a name", fieldPath: ".name", reason: "FieldValueRequired" }),
];

/**
 * Schemas as people write them, right or wrong: markers wherever they may be put, whether they suit
 * the field or not. What is not refused when its CRD is generated, an API server must take. For
 * tests.
 */
export const anySpecs: fc.Arbitrary<z.ZodType> = fc.letrec<{ field: z.ZodType; object: z.ZodType }>((tie) => {
  const names = fc.constantFrom("name", "type", "a", "b", "my-field", "namespace", "x.y", "size", "$ref");
  const object = fc
    .tuple(
      fc.dictionary(names, fc.tuple(tie("field"), fc.constantFrom("required", "optional")), {
        minKeys: 0,
        maxKeys: 4,
      }),
      fc.constantFrom("strip", "strip", "loose"),
    )
    .map(([fields, rest]) => {
      const shape = Object.fromEntries(
        Object.entries(fields).map(([name, [schema, presence]]) => [
          name,
          presence === "required" ? schema : schema.optional(),
        ]),
      );
      return rest === "loose" ? z.looseObject(shape) : z.object(shape);
    });
  const list = fc
    .tuple(tie("field"), fc.option(fc.constantFrom(1, 10, 1000)), fc.constantFrom(...listMarkers))
    .map(([item, max, marker]) => {
      const bounded = max === null ? z.array(item) : z.array(item).max(max);
      return marker === undefined ? bounded : bounded.check(marker());
    });
  const union = fc
    .tuple(tie("field"), tie("field"))
    .map(([a, b]) =>
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("a"), a }),
        z.object({ type: z.enum(["b", "c"]), b: b.optional() }),
      ]),
    );
  const field = fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    scalars,
    tie("object"),
    list,
    fc.tuple(tie("field")).map(([value]) => z.record(z.string(), value)),
    union,
    fc.tuple(tie("object"), tie("object")).map(([left, right]) => z.intersection(left, right)),
    fc.tuple(scalars, scalars).map((members) => z.union(members)),
  );
  return {
    object,
    field: fc
      .tuple(
        field,
        fc.constantFrom(...markers),
        fc.constantFrom("as it is", "nullable", "described", "default"),
      )
      .map(([schema, marker, layer]) =>
        layered(marker === undefined ? schema : schema.check(marker()), layer),
      ),
  };
}).object;

function layered(schema: z.ZodType, layer: "as it is" | "nullable" | "described" | "default"): z.ZodType {
  if (layer === "nullable") return schema.nullable();
  if (layer === "described") return schema.describe("a field");
  if (layer === "as it is") return schema;
  const value = ["ab", "abcd", 1, 2, true, "A", "x", "v1", {}, []].find((one) => takes(schema, one));
  return value === undefined ? schema : schema.prefault(value);
}

/** Zod throws where the sides of an intersection make different values of one field. */
function takes(schema: z.ZodType, value: unknown): boolean {
  try {
    return schema.safeParse(value).success;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Unmergable")) return false;
    throw error;
  }
}
