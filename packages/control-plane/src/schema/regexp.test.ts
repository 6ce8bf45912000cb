import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern, PatternError } from "./regexp.ts";

test.each([
  ["^[a-z]+$", "abc", true],
  ["^[a-z]+$", "abc\n", false],
  ["(?i)^abc$", "ABC", true],
  ["a(?i)b|c", "C", true],
  ["a(?i)b|c", "Ab", false],
  ["(?s)a.b", "a\nb", true],
  ["a.b", "a\nb", false],
  ["a.b", "a\rb", true],
  ["\\Aab\\z", "ab", true],
  ["[[:alpha:]]+\\d", "é1", false],
  ["^\\w$", "é", false],
  ["^\\pL$", "é", true],
  ["^\\p{Greek}$", "α", true],
  ["^[^\\d]$", "x", true],
  ["\\Qa.b\\E", "a.b", true],
  ["\\Qa.b\\E", "axb", false],
  ["^(?P<name>a)(?:b)$", "ab", true],
  ["^a{2}$", "aa", true],
  ["^a{,2}$", "a{,2}", true],
  ["^[]a]$", "]", true],
  ["^[a\\-z]$", "-", true],
  ["^[a-]$", "-", true],
  ["^\\x41\\x{1F600}$", "A😀", true],
  ["^a/b$", "a/b", true],
  ["^😀$", "😀", true],
])("%s on %j gives %s", (pattern, text, matches) => {
  expect(compilePattern(pattern).test(text)).toBe(matches);
});

test.each([
  ["(?=x)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
  ["(?!x)", "error parsing regexp: invalid or unsupported Perl syntax: `(?!`"],
  ["[", "error parsing regexp: missing closing ]: `[`"],
  ["(a", "error parsing regexp: missing closing ): `(a`"],
  ["a)", "error parsing regexp: unexpected ): `a)`"],
  ["*", "error parsing regexp: missing argument to repetition operator: `*`"],
  ["a**", "error parsing regexp: invalid nested repetition operator: `**`"],
  ["\\1", "error parsing regexp: invalid escape sequence: `\\1`"],
  ["[z-a]", "error parsing regexp: invalid character class range: `z-a`"],
  ["a{2,1}", "error parsing regexp: invalid repeat count: `{2,1}`"],
])("%s is refused as RE2 refuses it", (pattern, message) => {
  expect(() => compilePattern(pattern)).toThrow(new PatternError(message));
});

test("whatever the pattern, it compiles or is a PatternError", () => {
  const pieces = fc.constantFrom(
    ..."()[]{}|*+?^$.\\-,:=!<>abzAZ09_QEpPxdwsb ".split(""),
    "(?i)",
    "[:alpha:]",
    "é",
    "😀",
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
      (pattern) => {
        try {
          compilePattern(pattern).test("abc");
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      },
    ),
    { numRuns: 5000 },
  );
});
