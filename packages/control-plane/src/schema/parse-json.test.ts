import fc from "fast-check";
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../json.ts";
import { MAX_DEPTH, ParseError, parseJson } from "./parse-json.ts";
import { parseYaml } from "./parse-yaml.ts";

/**
 * Integers that a double cannot hold are read exactly; here they are compared as JSON.parse rounds
 * them.
 */
function rounded(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, rounded(field)]));
}

test.each([
  ['"\\ud800"', "\ufffd"],
  ['"a\\uDC00b"', "a\ufffdb"],
  ['"\\ud800\\ud83d\\ude00"', "\ufffd\u{1f600}"],
  ['"\\ud83d\\uDE00"', "\u{1f600}"],
  ['"\\\\ud800"', "\\ud800"],
  ['{"\\udfff":"\\ud800x\\udc00"}', { "\ufffd": "\ufffdx\ufffd" }],
])("half a character in %s is none", (text, value) => {
  expect(parseJson(text).value).toEqual(value);
});

test("JSON reads as JSON.parse reads it, apart from large integers", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(rounded(parseJson(text, { findDuplicates: true }).value)).toEqual(JSON.parse(text));
    }),
  );
});

test("whatever the text, the outcome is a value or a ParseError", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"a"',
    ":",
    ",",
    "1",
    "-",
    "e5",
    ".",
    "tru",
    "true",
    "null",
    "\\",
    '"',
    " ",
    "\n",
    "\u0001",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(pieces).map((parts) => parts.join("")),
      (text) => {
        try {
          parseJson(text, { findDuplicates: true });
        } catch (error) {
          expect(error).toBeInstanceOf(ParseError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("fields given twice are named by their path, and the last one holds", () => {
  const { value, duplicates } = parseJson('{"a":1,"spec":{"x":1,"list":[{"y":1,"\\u0079":2}],"x":2},"a":2}', {
    findDuplicates: true,
  });
  expect(duplicates).toEqual([
    'duplicate field "spec.list[0].y"',
    'duplicate field "spec.x"',
    'duplicate field "a"',
  ]);
  expect(value).toEqual({ a: 2, spec: { x: 2, list: [{ y: 2 }] } });
});

test.each([
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
  ["[1 2]", "invalid character '2' after array element"],
  ["nul!", "invalid character '!' in literal null (expecting 'l')"],
  ["x", "invalid character 'x' looking for beginning of value"],
  ["1 2", "invalid character '2' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ["-", "unexpected end of JSON input"],
  ["1.x", "invalid character 'x' after decimal point in numeric literal"],
])("%j is refused in Go's words", (text, message) => {
  expect(() => parseJson(text)).toThrow(new ParseError(message));
});

test("a field named __proto__ is a field, and no prototype is touched", () => {
  for (const { value } of [
    parseJson('{"__proto__":{"polluted":1}}'),
    parseYaml("__proto__: {polluted: 1}"),
  ]) {
    expect(Object.keys(value as JsonObject)).toEqual(["__proto__"]);
    expect(isObject(value) && Object.getPrototypeOf(value) === Object.prototype).toBe(true);
    expect("polluted" in {}).toBe(false);
  }
});

test("nesting beyond the limit is refused, brackets in strings aside", () => {
  expect(() => parseJson("[".repeat(MAX_DEPTH + 1) + "]".repeat(MAX_DEPTH + 1))).toThrow(
    "exceeded max depth",
  );
  expect(parseJson(JSON.stringify("[".repeat(MAX_DEPTH + 1))).duplicates).toEqual([]);
});

test("YAML is read as the API server reads it", () => {
  expect(parseYaml("a: yes\nb: 'yes'\nc: 0x10\nd: 2024-01-01\ne: ~\n<<: {m: 1}").value).toEqual({
    a: true,
    b: "yes",
    c: 16,
    d: "2024-01-01",
    e: null,
    m: 1,
  });
});

test("aliases become copies", () => {
  const { value } = parseYaml("a: &x {n: [1]}\nb: *x");
  const { a, b } = value as { a: unknown; b: unknown };
  expect(a).toEqual(b);
  expect(a).not.toBe(b);
});

test("aliases of aliases do not fill the memory", () => {
  const levels = Array.from(
    { length: 30 },
    (_, level) => `l${level + 1}: &l${level + 1} [*l${level}, *l${level}]`,
  );
  expect(() => parseYaml(["l0: &l0 x", ...levels].join("\n"))).toThrow(ParseError);
});

test("a key given twice in YAML is reported with its line, and the last one holds", () => {
  const { value, duplicates } = parseYaml("spec:\n  a: 1\n  a: 2\n");
  expect(value).toEqual({ spec: { a: 2 } });
  expect(duplicates).toEqual(['line 3: key "a" already set in map']);
});

test("all duplicate keys in YAML are reported, each with the line of its value and as values end", () => {
  const text = [
    "annotations:",
    "  k: v",
    "annotations:",
    "data: {}",
    "data: {x: a, x: b}",
    "1: a",
    "1: b",
    '"1": c',
    "true: d",
    "true: e",
    "list:",
    "- <<: {}",
    "  <<: {}",
    "block: |",
    "  text",
    "block: |",
    "  text",
    "data:",
    '  "quo\\"té": d',
    '  "quo\\"té": d',
  ].join("\n");
  expect(parseYaml(text).duplicates).toEqual([
    'line 3: key "annotations" already set in map',
    'line 5: key "x" already set in map',
    'line 5: key "data" already set in map',
    "line 7: key 1 already set in map",
    "line 10: key true already set in map",
    'line 16: key "block" already set in map',
    'line 20: key "quo\\"té" already set in map',
    'line 19: key "data" already set in map',
  ]);
});

test("whatever the YAML, the outcome is a value or a ParseError", () => {
  const pieces = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&x",
    "*x",
    "!!int",
    "'",
    '"',
    "|",
    ">",
    "#",
    "? ",
    "<<",
    "---",
    ".nan",
    "\t",
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 20, size: "max" }).map((parts) => parts.join("")),
      (text) => {
        try {
          parseYaml(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ParseError);
        }
      },
    ),
    { numRuns: 1000 },
  );
});
