import { expect, test } from "vitest";
import { internalRule, internalSchema } from "./internal-text.ts";

test("a rule is shown whole, with the zero of what it leaves out", () => {
  expect(internalRule({ rule: "self < 3" })).toBe(
    '{"Rule":"self \\u003c 3","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}',
  );
});

test("a schema is shown with the schemas in it, properties in the order of their names", () => {
  const shown = internalSchema({
    type: "object",
    properties: { b: { type: "array", items: { type: "string" } }, a: { type: "integer" } },
    additionalProperties: false,
  });
  expect(shown).toContain('"Type":"object"');
  expect(shown.indexOf('"a":{')).toBeLessThan(shown.indexOf('"b":{'));
  expect(shown).toContain('"Items":{"Schema":{');
  expect(shown).toContain('"AdditionalProperties":{"Allows":false,"Schema":null}');
});
