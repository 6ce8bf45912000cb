import fc from "fast-check";
import { expect, test } from "vitest";
import { equal, exactNumber, type Json, parse, stringify } from "./json.ts";
import { indentedInSteps } from "./json-text.ts";
import { finishNow } from "./steps.ts";

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    fc.constantFrom(null, true, false),
    fc.string(),
    fc.maxSafeInteger(),
    // A whole number is written as an integer, and read back as one.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => exactNumber(String(value))),
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
  ),
})).value;

const indented = (text: string) => finishNow(indentedInSteps(text));

test("what was written is read back exactly, integers of 64 bits too", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(equal(parse(stringify(value)), value)).toBe(true);
      expect(equal(parse(indented(stringify(value))), value)).toBe(true);
    }),
  );
});

test("for people, JSON looks as JSON.stringify indents it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test.for<[string, number | bigint]>([
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["9007199254740993", 9007199254740993n],
  ["-9223372036854775808", -(2n ** 63n)],
  ["9223372036854775807", 2n ** 63n - 1n],
  ["9223372036854775808", 2 ** 63],
  ["1e17", 1e17],
  ["9007199254740993.0", 9007199254740992],
  ["1e400", Number.POSITIVE_INFINITY],
])("%s is what Go makes of it", ([source, value]) => {
  expect(exactNumber(source)).toBe(value);
});
