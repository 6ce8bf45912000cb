import { builtinTypes } from "@windlass/kinds/schemas";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type FieldNotation, type FieldType, type Merge, parseType, printType, scalars } from "./notation.ts";

const name = fc.stringMatching(/^[$A-Za-z][\w-]*$/);
const fieldType = fc.letrec<{ any: FieldType; flat: FieldType }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("flat"),
    fc.record({ at: fc.constant("list" as const), items: tie("any") }),
    fc.record({ at: fc.constant("map" as const), values: tie("any") }),
  ),
  flat: fc.oneof(
    fc.record({ at: fc.constant("scalar" as const), scalar: fc.constantFrom(...scalars) }),
    fc.record({
      at: fc.constant("enum" as const),
      values: fc.array(fc.constantFrom("A", "", "*", "two words", "a | b", 'quo"ted', "a[]", "atomic"), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    fc.record({ at: fc.constant("type" as const), name: fc.stringMatching(/^[a-z]+v[1-9]\.[A-Z]\w*$/) }),
  ),
})).any;
const merge: fc.Arbitrary<Merge> = fc.oneof(
  fc.record({ as: fc.constantFrom("atomic" as const, "granular" as const, "set" as const) }),
  fc.record({ as: fc.constant("by" as const), keys: fc.tuple(name, name) }),
);
const field: fc.Arbitrary<FieldNotation> = fc.record(
  {
    name,
    required: fc.boolean(),
    type: fieldType,
    nullable: fc.boolean(),
    merge,
    default: fc.constantFrom("", "TCP", "a = b"),
  },
  { requiredKeys: ["name", "required", "type", "nullable"] },
);

test("parseType reads what printType prints", () => {
  fc.assert(
    fc.property(fc.record({ atomic: fc.boolean(), fields: fc.array(field, { maxLength: 5 }) }), (type) => {
      expect(parseType(printType(type))).toEqual(type);
    }),
  );
});

test("a malformed line is refused", () => {
  expect(() => parseType("name string")).toThrow("not a field: name string");
});

test("every type that a field names is defined", () => {
  const named = (type: FieldType): string[] => {
    if (type.at === "type") return [type.name];
    if (type.at === "list") return named(type.items);
    return type.at === "map" ? named(type.values) : [];
  };
  const missing = Object.values(builtinTypes)
    .flatMap((text) => parseType(text).fields)
    .flatMap(({ type }) => named(type))
    .filter((type) => !Object.hasOwn(builtinTypes, type));
  expect(missing).toEqual([]);
});
