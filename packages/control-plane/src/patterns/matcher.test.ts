import fc from "fast-check";
import { expect, test } from "vitest";
import { longestTurn } from "../longest-turn.fixture.ts";
import { StatusError } from "../status.ts";
import { finish, finishNow } from "../steps.ts";
import { workPerCharacter } from "./backtracking.ts";
import { type Matcher, PatternError, Patterns } from "./index.ts";
import { matcher } from "./patterns.fixture.ts";
import { programSize } from "./program-size.ts";
import { Re2 } from "./re2.ts";
import { javaScriptSource, parsePlain } from "./syntax.ts";
import { WorkerThread } from "./worker-thread.ts";

function testOnce(pattern: string, text: string): boolean {
  const using = matcher();
  return finishNow(using.attempt(() => using.test(pattern, text)));
}

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
  ["[[:^alpha:]]+", "abc", false],
  ["[[:^alpha:]]+", "ab1", true],
  ["^*a", "ba", true],
  ["(|a)*b", "aab", true],
  ["^\\w$", "é", false],
  ["^\\s$", "\u00a0", false],
  ["^\\pL$", "é", true],
  ["^\\p{Greek}$", "α", true],
  ["^[^\\d]$", "x", true],
  ["\\Qa.b\\E", "a.b", true],
  ["\\Qa.b\\E", "axb", false],
  ["^(?P<name>a)(?:b)$", "ab", true],
  ["^(?P<n>a)[(?<n>](?<n>b)$", "a(b", true],
  ["^a{2}$", "aa", true],
  ["^a{2}$", "aaa", false],
  ["^a{,2}$", "a{,2}", true],
  ["^[]a]$", "]", true],
  ["^[a\\-z]$", "-", true],
  ["^[a-]$", "-", true],
  ["^\\x41\\x{1F600}$", "A😀", true],
  ["^a/b$", "a/b", true],
  ["^😀$", "😀", true],
  ["^.$", "😀", true],
  ["^$|^a$", "", true],
  ["^$|^a$", "b", false],
  ["^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a".repeat(63), true],
  ["^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a".repeat(64), false],
])("%s on %j gives %s", (pattern, text, matches) => {
  expect(testOnce(pattern, text)).toBe(matches);
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
  ["a\\", "error parsing regexp: trailing backslash at end of expression: ``"],
  ["[z-a]", "error parsing regexp: invalid character class range: `z-a`"],
  ["a{2,1}", "error parsing regexp: invalid repeat count: `{2,1}`"],
  ["(a{500}){3}", "error parsing regexp: invalid repeat count: `{3}`"],
])("%s is refused as RE2 refuses it", (pattern, message) => {
  const using = matcher();
  for (const ask of [() => using.test(pattern, "a"), () => using.check(pattern)]) {
    expect(() => finishNow(using.attempt(ask))).toThrow(new PatternError(message));
  }
});

test("all matches are found as Go finds them", () => {
  const using = matcher();
  const all = (pattern: string, text: string, most = Number.POSITIVE_INFINITY) =>
    finishNow(using.attempt(() => using.findAll(pattern, text, most)));
  expect(all("a*", "baaac")).toEqual(["", "aaa", ""]);
  expect(all("a.", "abacad", 2)).toEqual(["ab", "ac"]);
  expect(all("x", "abc")).toEqual([]);
  expect(finishNow(using.attempt(() => using.find("b+", "abbc")))).toBe("bb");
  expect(finishNow(using.attempt(() => using.find("x", "abbc")))).toBeUndefined();
});

test.each([
  ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", true],
  ["^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", true],
  ["^(\\d+)(\\.\\d+)?(Ki|Mi|Gi)?$", true],
  ["^(https?|ftp)://[^/]+(/.*)?$", true],
  ["^$|^[A-Z]{3}$", true],
  ["foo|bar", true],
  // Two ways to read the same text, with or without end.
  ["^(a+)+$", false],
  ["^(a|a)*$", false],
  ["^(a|b|ab)*c$", false],
  ["^\\d*\\d*\\d*x$", false],
  ["^a?a?a?b$", false],
  ["^(|a)(|a)b$", false],
  ["^(a*)*$", false],
  // Again from each place.
  ["a+b", false],
  [".*x", false],
  [`^${"(a|b)?".repeat(30)}$`, false],
  ["^[a-z]{300}$", false],
])("whether %s may be left to JavaScript's engine: %s", (pattern, may) => {
  const plain = parsePlain(pattern);
  expect(plain !== undefined && workPerCharacter(plain) !== undefined).toBe(may);
});

/** Patterns of the plain kind, most of which are valid. */
const plainPatterns = fc
  .letrec<{ part: string }>((tie) => ({
    part: fc.oneof(
      { maxDepth: 5, depthIdentifier: "part" },
      fc.constantFrom("a", "b", ".", "\\d", "\\.", "[ab]", "[^a]", "[a-c]", "é", "😀", "\\W"),
      fc.tuple(tie("part"), tie("part")).map(([a, b]) => a + b),
      fc.tuple(tie("part"), tie("part")).map(([a, b]) => `(${a}|${b})`),
      fc
        .tuple(tie("part"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"))
        .map(([part, times]) => `(?:${part})${times}`),
    ),
  }))
  .part.chain((part) => fc.constantFrom(part, `^${part}`, `${part}$`, `^${part}$`, `^${part}$|^${part}b$`));
const texts = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", ".", "\n", "é", "😀"), maxLength: 12 });

test("where JavaScript's engine may run a pattern, it says what RE2 says", () => {
  const re2 = new Re2();
  fc.assert(
    fc.property(plainPatterns, fc.array(texts, { minLength: 1, maxLength: 5 }), (pattern, samples) => {
      const plain = parsePlain(pattern);
      fc.pre(plain !== undefined && workPerCharacter(plain) !== undefined);
      const regexp = new RegExp(javaScriptSource(plain ?? []), "u");
      for (const text of samples) {
        expect([text, regexp.test(text)]).toEqual([text, re2.answer({ ask: "test", pattern, text })]);
        expect(regexp.exec(text)?.[0]).toBe(re2.answer({ ask: "find", pattern, text }));
      }
    }),
    { numRuns: 2_000 },
  );
});

/** Patterns that read the same text in several ways, as often as not. */
const ambiguous = fc
  .letrec<{ part: string }>((tie) => ({
    part: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("a", "a", "b", "[ab]", "."),
      fc.tuple(tie("part"), tie("part")).map(([a, b]) => a + b),
      fc.tuple(tie("part"), tie("part")).map(([a, b]) => `(${a}|${b})`),
      fc
        .tuple(tie("part"), fc.constantFrom("*", "+", "?", "{2,}"))
        .map(([part, times]) => `(${part})${times}`),
    ),
  }))
  .part.chain((part) => fc.constantFrom(part, `^${part}$`));

test("where JavaScript's engine may run a pattern, its time is linear in the text", () => {
  const time = (regexp: RegExp, text: string): number => {
    const before = process.threadCpuUsage();
    regexp.test(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  let tried = 0;
  fc.assert(
    fc.property(ambiguous, fc.constantFrom("a", "ab", "aab"), (pattern, seed) => {
      const plain = parsePlain(pattern);
      if (plain === undefined || workPerCharacter(plain) === undefined) return;
      tried++;
      const regexp = new RegExp(javaScriptSource(plain), "u");
      // An exponential engine takes a second for the first, and a quadratic one for the last.
      for (const length of [28, 30_000]) {
        const text = `${seed.repeat(Math.ceil(length / seed.length))}\u0000`;
        expect(time(regexp, text)).toBeLessThan(100);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(tried).toBeGreaterThan(500);
});

test("whatever the pattern, RE2's program is no larger than it was guessed to be", () => {
  const re2 = new Re2();
  const pieces = fc.constantFrom(
    ..."()[]{}|*+?^$.\\-,:ab09".split(""),
    "(?i)",
    "[:alpha:]",
    "\\pL",
    "{3}",
    "{2,5}",
    "{0,4}",
    "{7,}",
    "(?:ab)",
    "[a-z]",
    "[^x]",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join("")),
      (pattern) => {
        let size: number;
        try {
          size = re2.sizeOf(pattern);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
          return;
        }
        // The program begins and ends with an instruction of its own.
        expect(size).toBeLessThanOrEqual(programSize(pattern) + 3);
      },
    ),
    {
      numRuns: 5_000,
      examples: [
        ["[(-[:alpha:][:alpha:]*(?:ab)"],
        ["[]-a]b"],
        ["[\\d-[:alpha:]]b"],
        ["{{0,4}(?i){7,}(?i){0,4}"],
      ],
    },
  );
});

/** Matches as validation does, and returns how long the event loop was blocked. */
async function heldUp(ask: (using: Matcher) => unknown): Promise<{ answer: unknown; longest: number }> {
  await using patterns = new Patterns();
  const using = patterns.matcher();
  let answer: unknown;
  const longest = await longestTurn(async () => {
    try {
      answer = await finish(using.attempt(() => ask(using)));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      answer = error.message;
    }
  });
  return { answer, longest };
}

test.each([
  ["backtracking without end", "^(a+)+$", `${"a".repeat(32)}!`, false],
  ["a long text", "^(a+)+$", `${"a".repeat(1_000_000)}!`, false],
  ["a large program", "(a?){1000}a{1000}", "a".repeat(1_000), true],
  ["the same from each place", "[ab]*c", "ab".repeat(100_000), false],
  ["a plain pattern on a long text", "^[a-z]+$", "a".repeat(1_000_000), true],
])("other requests are not delayed by %s", { timeout: 60_000 }, async (_what, pattern, text, matches) => {
  const { answer, longest } = await heldUp((using) => using.test(pattern, text));
  expect(answer).toBe(matches);
  expect(longest).toBeLessThan(100);
});

test("other requests are not delayed by a pattern that takes long to compile", {
  timeout: 60_000,
}, async () => {
  const large = "[^a-z]{1000}".repeat(80);
  expect((await heldUp((using) => using.check(large))).longest).toBeLessThan(100);
  const long = "\\pL".repeat(20_000);
  expect((await heldUp((using) => using.check(long))).longest).toBeLessThan(100);
  const broken = `${"(a{9}".repeat(20_000)}`;
  const { answer, longest } = await heldUp((using) => using.check(broken));
  expect(answer).toMatch(/^error parsing regexp: /);
  expect(longest).toBeLessThan(100);
});

test("many small matches have their turns", { timeout: 60_000 }, async () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `${"ab".repeat(20)}${index}`);
  const pattern = "^(a|b|ab)*[0-9]+$";
  const { answer, longest } = await heldUp((using) => words.every((word) => using.test(pattern, word)));
  expect(answer).toBe(true);
  expect(longest).toBeLessThan(100);
});

test("a match that takes too long is canceled, and the next one is answered", async () => {
  const thread = new WorkerThread({ patienceMs: 300 });
  try {
    const endless = { ask: "test", pattern: "(a?){1000}a{1000}b", text: `b${"a".repeat(300_000)}` } as const;
    const refused = expect(thread.ask(endless)).rejects.toThrow(StatusError);
    const next = thread.ask({ ask: "test", pattern: "a", text: "a" });
    await refused;
    await expect(next).resolves.toBe(true);
  } finally {
    await thread.close();
  }
});

test("whatever the pattern, it can be asked or is a PatternError", () => {
  const pieces = fc.constantFrom(
    ..."()[]{}|*+?^$.\\-,:=!<>abzAZ09_QEpPxdwsb ".split(""),
    "(?i)",
    "[:alpha:]",
    "é",
    "😀",
    "\ud800",
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
      (pattern) => {
        try {
          testOnce(pattern, "abc");
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      },
    ),
    { numRuns: 5_000 },
  );
});
