import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonAsYaml } from "./json-as-yaml.ts";

test("whatever the value, it is the same JSON, of characters that YAML takes as they are", () => {
  const text = fc.string({ unit: "binary" });
  const value = fc.oneof(fc.dictionary(text, text), fc.jsonValue({ stringUnit: "binary", maxDepth: 2 }));
  fc.assert(
    fc.property(value, (one) => {
      const written = jsonAsYaml(one);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(one)));
      expect(written).toMatch(/^[\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]*$/);
    }),
  );
});

test.for([
  ["half \ud83d", '"half \\ufffd"'],
  ["half \udc00, and \\ud83d", '"half \\ufffd, and \\\\ud83d"'],
  ["\\\ud83d", '"\\\\\\ufffd"'],
  ["a whole 😀", '"a whole 😀"'],
] as const)("of %j half a character becomes U+FFFD, and nothing else", ([given, written]) => {
  expect(jsonAsYaml(given)).toBe(written);
});
