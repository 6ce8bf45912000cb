import * as fc from "fast-check";
import { z } from "zod";
import { duration, intOrString, listMap, listSet, quantity } from "./index.ts";

/** A schema of the supported kinds, and values that it takes. For tests. */
export interface Sample {
  readonly schema: z.ZodType;
  readonly input: fc.Arbitrary<unknown>;
}

const fieldName = fc.stringMatching(/^[a-z][a-zA-Z0-9]{0,8}$/);
const jsonNumber = fc.integer({ min: -1_000_000, max: 1_000_000 });

const scalars: fc.Arbitrary<Sample> = fc.constantFrom<Sample>(
  { schema: z.string(), input: fc.string() },
  {
    schema: z
      .string()
      .min(1)
      .max(20)
      .regex(/^[a-z]+$/i),
    input: fc.stringMatching(/^[a-zA-Z]{1,20}$/),
  },
  { schema: z.string().startsWith("a").endsWith("z"), input: fc.string().map((text) => `a${text}z`) },
  { schema: z.int(), input: jsonNumber },
  { schema: z.int32().min(0).max(100), input: fc.integer({ min: 0, max: 100 }) },
  { schema: z.uint32(), input: fc.nat() },
  { schema: z.number().positive(), input: fc.integer({ min: 1, max: 99 }) },
  { schema: z.float32(), input: jsonNumber },
  { schema: z.boolean(), input: fc.boolean() },
  { schema: z.enum(["A", "B"]), input: fc.constantFrom("A", "B") },
  { schema: z.literal([1, 2, 3]), input: fc.constantFrom(1, 2, 3) },
  { schema: z.url(), input: fc.webUrl() },
  { schema: z.ipv4(), input: fc.ipV4() },
  { schema: z.uuid(), input: fc.uuid() },
  { schema: z.union([z.ipv4(), z.literal("none")]), input: fc.constantFrom("10.0.0.1", "none") },
  { schema: z.base64(), input: fc.base64String() },
  { schema: intOrString(), input: fc.oneof(jsonNumber, fc.string()) },
  { schema: quantity(), input: fc.constantFrom(1, "500m", "1.5Gi", "1e3") },
  { schema: duration(), input: fc.constantFrom("30s", "1h30m") },
  { schema: z.unknown(), input: fc.constantFrom<unknown>("x", 1, { a: [1] }, [null]) },
);

function fields(sample: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return sample.chain(({ schema, input }) =>
    fc.oneof(
      fc.constant({ schema, input }),
      fc.constant({ schema: schema.describe("a field"), input }),
      fc.constant({ schema: schema.nullable(), input: fc.option(input) }),
      input.map((value) => ({
        schema: value === null ? schema : schema.prefault(value),
        input,
      })),
    ),
  );
}

function objectOf(field: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const shape = fc.dictionary(fieldName, fc.tuple(field, fc.boolean()), { maxKeys: 4 });
  return fc.tuple(shape, fc.boolean()).map(([parts, loose]) => {
    const entries = Object.entries(parts);
    const zodShape = Object.fromEntries(
      entries.map(([name, [{ schema }, required]]) => [name, required ? schema : schema.optional()]),
    );
    const inputs = Object.fromEntries(entries.map(([name, [{ input }]]) => [name, input]));
    const requiredKeys = entries.filter(([, [, required]]) => required).map(([name]) => name);
    return {
      schema: loose ? z.looseObject(zodShape) : z.object(zodShape),
      input: fc.record(inputs, { requiredKeys }) as fc.Arbitrary<unknown>,
    };
  });
}

function unionOf(object: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(object, object).map(([a, b]) => ({
    schema: z.discriminatedUnion("type", [
      z.object({ type: z.literal("a"), a: a.schema }),
      z.object({ type: z.enum(["b", "c"]), b: b.schema.optional() }),
    ]),
    input: fc.oneof(
      fc.record({ type: fc.constant("a"), a: a.input }),
      fc.record({ type: fc.constantFrom("b", "c"), b: b.input }, { requiredKeys: ["type"] }),
    ),
  }));
}

const named = fc.constant<Sample>({
  schema: z
    .array(z.object({ name: z.string(), value: z.string().default("") }))
    .max(10)
    .check(listMap("name")),
  input: fc.uniqueArray(fc.string(), { maxLength: 5 }).map((names) => names.map((name) => ({ name }))),
});

const set = fc.constant<Sample>({
  schema: z.array(z.string()).min(0).check(listSet()),
  input: fc.uniqueArray(fc.string(), { maxLength: 5 }),
});

/** Objects of scalars, lists, maps, unions and further objects, as a `spec` would be. */
export const specSamples: fc.Arbitrary<Sample> = fc.letrec<{ field: Sample; object: Sample }>((tie) => ({
  object: objectOf(tie("field")),
  field: fields(
    fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      scalars,
      named,
      set,
      tie("object"),
      tie("field").map(({ schema, input }) => ({
        schema: z.array(schema).max(5),
        input: fc.array(input, { maxLength: 3 }),
      })),
      tie("field").map(({ schema, input }) => ({
        schema: z.record(z.string(), schema),
        // zod drops a key of this name; the API server keeps it.
        input: fc.dictionary(
          fc.string().filter((key) => key !== "__proto__"),
          input,
          { maxKeys: 3 },
        ),
      })),
      unionOf(tie("object")),
    ),
  ),
})).object;
