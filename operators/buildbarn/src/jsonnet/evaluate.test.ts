import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate, JsonnetError, plain, UnsupportedJsonnetError } from "./index.ts";

const run = (source: string, files: Record<string, string> = {}, extVars: Record<string, string> = {}) =>
  plain(evaluate("main.jsonnet", { files: { ...files, "main.jsonnet": source }, extVars }));

/** Taken from jsonnet's own program. */
const language: readonly (readonly [source: string, result: unknown])[] = [
  ["{ a: 1, b: self.a + 1 } { a: 5 }", { a: 5, b: 6 }],
  ["{ a+: { x: 1 } } + { a+: { y: 2 } }", { a: { x: 1, y: 2 } }],
  ["{ a:: 1, b: self.a }", { b: 1 }],
  ["{ a:: 1 } { a: 2 }", {}],
  ["{ a:: 1 } { a::: 2 }", { a: 2 }],
  ["{ a: 1, b: { c: $.a } }", { a: 1, b: { c: 1 } }],
  ["({ a: 1, c: self.b } + { b: super.a + 1 }).c", 2],
  ["{ a: 1 } + { has: 'a' in super, hasNot: 'z' in super }", { a: 1, has: true, hasNot: false }],
  ["local f(x, y=x + 1) = x * y; [f(2), f(2, 5), f(y=1, x=9)]", [6, 10, 9]],
  ["[x * y for x in [1, 2, 3] if x != 2 for y in [10, 20]]", [10, 20, 30, 60]],
  ["{ [k]: std.length(k) for k in ['a', 'bb'] }", { a: 1, bb: 2 }],
  ["{ [if false then 'gone']: 1, kept: 2 }", { kept: 2 }],
  ["local a = [1, 2, 3, 4, 5]; [a[1:3], a[::2], a[-2:], 'hello'[1:3]]", [[2, 3], [1, 3, 5], [4, 5], "el"]],
  ["'%s-%03d-%5.2f|%-4s|%x' % ['a', 7, 3.14159, 'b', 255]", "a-007- 3.14|b   |ff"],
  ["'%(a)s and %(b)d' % { a: [1, 'x'], b: 2 }", '[1, "x"] and 2'],
  ["|||\n  first\n    second\n|||", "first\n  second\n"],
  ["@'C:\\n''x'", "C:\\n'x"],
  ["local x = 1, y = x + 1; local z = y; if z > 1 then 'big' else 'small'", "big"],
  ["{ local x = 3, method(y):: x + y, a: self.method(4) }", { a: 7 }],
  ["{ assert self.a > 0 : 'positive', a: 1 }", { a: 1 }],
  ["std.foldl(function(a, b) a + b, [1, 2, 3], 0)", 6],
  ["std.join(',', std.map(std.toString, std.range(1, 3)))", "1,2,3"],
  ["std.mergePatch({ a: 1, b: { c: 2 } }, { b: { d: 3 }, a: null })", { b: { c: 2, d: 3 } }],
  ["std.objectFields({ b: 1, a: 2, h:: 3 })", ["a", "b"]],
  ["std.prune({ a: null, b: [], c: { d: {} }, e: [null, 1] })", { e: [1] }],
  ["std.split('a:b:c', ':') + [std.strReplace('xax', 'x', 'yy')]", ["a", "b", "c", "yyayy"]],
  ["[std.parseInt('-12'), std.parseJson('{\"a\": [1]}'), std.base64('hi')]", [-12, { a: [1] }, "aGk="]],
  ["std.set([3, 1, 2, 1]) + std.setUnion([1], [0])", [1, 2, 3, 0, 1]],
  ["1 + 2 * 3 - 4 / 2 == 5 && !(1 > 2) || error 'never'", true],
  ["[1 << 4, 7 & 3, 1 | 6, 5 ^ 1, -7 % 3, ~1]", [16, 3, 7, 4, -1, -2]],
  ["{ a: 1 } == { a: 1 } && [1, 2] < [1, 3] && 'a' < 'b'", true],
  ["64 * 1024 * 1024", 67_108_864],
  ["std.toString(1e15) + ' ' + 0.5", "1000000000000000 0.5"],
  ["std.manifestJsonMinified({ b: [1, {}], a: 'x' })", '{"a":"x","b":[1,{}]}'],
  ["{ a: error 'not asked for', b: 1 }.b", 1],
  ["local unused = error 'not asked for'; 1 // comment\n# and another /* and */ + 1", 1],
];

test.for(language)("%s", ([source, result]) => {
  expect(run(source)).toEqual(result);
});

test("imports are files beside it, and text; variables of the environment are strings", () => {
  const files = { "lib.libsonnet": "{ n: 40 + std.length(importstr 'two.txt') }", "two.txt": "ab" };
  expect(run("(import 'lib.libsonnet') + { pod: std.extVar('POD') }", files, { POD: "w-1" })).toEqual({
    n: 42,
    pod: "w-1",
  });
});

/** What is wrong, and where. */
const faults: readonly (readonly [source: string, place: string, fault: string])[] = [
  ["{\n  a: 1\n  b: 2\n}", "main.jsonnet:3:3", "expected"],
  ["{ a: 'no end }", "main.jsonnet:1:6", "does not end"],
  ["{\n  a: b,\n}", "main.jsonnet:2:6", "unknown variable b"],
  ["{ a: std.extVar('NODE') }", "main.jsonnet:1:16", "environment variable NODE"],
  ["{ a: { b: 1 }.c }", "main.jsonnet:1:15", "no field c"],
  ["{ a: 1, a: 2 }", "main.jsonnet:1:9", "two fields are called a"],
  ["local f(x) = x; f(1, 2)", "main.jsonnet:1:18", "2 arguments"],
  ["local f(x) = x; f()", "main.jsonnet:1:18", "argument x is missing"],
  ["{ a: import 'gone.libsonnet' }", "main.jsonnet:1:6", "no file gone.libsonnet"],
  ["{ assert self.a > 0 : 'must be above 0', a: 0 }", "main.jsonnet:1:17", "must be above 0"],
  ["{ a: 1 + {} }", "main.jsonnet:1:8", "cannot be added"],
  ["{ a: function(x) x }", "main.jsonnet:1:3", "function"],
  ["function(x) x", "main.jsonnet:1:1", "function"],
  ["{ a: self.b, b: self.a }", "main.jsonnet:1:3", "depends on itself"],
  ["local f(x) = f(x + 1); f(0)", "main.jsonnet:1:15", "nested too deeply"],
  ["std.length([x for x in std.range(1, 100000000)])", "main.jsonnet:1:33", "steps"],
  ["1 / 0", "main.jsonnet:1:3", "division by zero"],
  ["", "main.jsonnet:1:1", "expected a value"],
];

test.for(faults)("%s is refused at %s", ([source, place, fault]) => {
  expect(() => run(source)).toThrow(JsonnetError);
  expect(() => run(source)).toThrow(new RegExp(`^${place}: .*${fault}`));
});

test("an error in an imported file names that file", () => {
  expect(() => run("import 'lib.libsonnet'", { "lib.libsonnet": "{\n a: nothing }" })).toThrow(
    "lib.libsonnet:2:5: unknown variable nothing",
  );
});

test("what this evaluator lacks is distinguished from what is wrong", () => {
  expect(() => run("std.manifestIni({})")).toThrow(UnsupportedJsonnetError);
  expect(() => run("std.manifestNothing({})")).not.toThrow(UnsupportedJsonnetError);
});

test("each part of the result knows where it was written", () => {
  const files = {
    "lib.libsonnet": "{\n  base: { kept: 1 },\n}",
    "main.jsonnet": "(import 'lib.libsonnet') + {\n  base+: { own: 2 },\n}",
  };
  const located = evaluate("main.jsonnet", { files, extVars: {} });
  const base = located.kind === "object" ? located.fields.get("base") : undefined;
  const fields = base?.value.kind === "object" ? base.value.fields : new Map();
  expect(base?.at).toEqual({ file: "main.jsonnet", line: 2, column: 3 });
  expect(fields.get("kept")?.at).toEqual({ file: "lib.libsonnet", line: 2, column: 11 });
  expect(fields.get("own")?.at).toEqual({ file: "main.jsonnet", line: 2, column: 12 });
});

test("JSON is jsonnet, and comes to itself", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (json) => {
      const text = JSON.stringify(json);
      expect(run(text)).toEqual(JSON.parse(text.replaceAll("-0,", "0,")));
    }),
  );
});

test("no text makes it fail with anything but a JsonnetError", () => {
  const part = fc.constantFrom(
    ..."{}[]()+:;,.=\"'|$ \n".split(""),
    "local ",
    "self",
    "super",
    "a",
    "1",
    "for x in ",
    "std.",
    "error ",
    "|||",
    "import ",
    "function(x) ",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      try {
        run(parts.join(""));
      } catch (error) {
        expect(error).toBeInstanceOf(JsonnetError);
      }
    }),
    { numRuns: 2_000 },
  );
});
