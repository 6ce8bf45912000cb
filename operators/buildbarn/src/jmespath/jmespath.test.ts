import fc from "fast-check";
import { expect, test } from "vitest";
import { refused, taken, unanswerable } from "./expressions.fixture.ts";
import { expressionFault } from "./index.ts";

test.for(taken)("%j is taken", (text) => {
  expect(expressionFault(text)).toBeUndefined();
});

test.for([...refused, ...unanswerable])("%j is refused: %s", ([text, fault]) => {
  expect(expressionFault(text)).toBe(fault);
});

/** Expressions as the language makes them, with something of each kind. */
const { expression } = fc.letrec<{ expression: string; operand: string }>((tie) => ({
  operand: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", '"b c"', "'d'", "`1`", "@", "*", "[*]", "[0]", "[]", "[1:2]", "c.d", "e[*].f"),
    tie("expression").map((inner) => `(${inner})`),
    tie("expression").map((inner) => `!${inner}`),
    tie("expression").map((inner) => `[?${inner}]`),
    tie("expression").map((inner) => `length(${inner})`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `[${a}, ${b}]`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `{a: ${a}, "b": ${b}}`),
    tie("expression").map((inner) => `map(&${inner}, a)`),
  ),
  expression: fc.oneof(
    { depthSize: "small" },
    tie("operand"),
    fc
      .tuple(
        tie("operand"),
        fc.constantFrom(" || ", " && ", " | ", " == ", " != ", "<", " <= ", " > ", ">="),
        tie("operand"),
      )
      .map((parts) => parts.join("")),
  ),
}));

test("what the language makes is taken", () => {
  fc.assert(
    fc.property(expression, (text) => {
      expect(expressionFault(text), text).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

const piece = fc.constantFrom(
  ..."a|length|\"b\"|'c'|`1`|0|-1|-|.|,|:|@|*|[|[?|[]|]|{|}|(|)|&|&&|!|!=|=|==|<|<=|>|>=| |\n|'|\"|`|\\|ä|🚀|\u0000".split(
    "|",
  ),
  "|",
  "||",
);

test("any text is taken, or has a fault at a place within it", () => {
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  let takenOnes = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const fault = expressionFault(text);
      if (fault === undefined) {
        takenOnes += 1;
        return;
      }
      const [, line = "", column = ""] = /^line (\d+), column (\d+): /.exec(fault) ?? [];
      const found = text.split("\n")[Number(line) - 1];
      expect(found, fault).toBeDefined();
      expect(Number(column)).toBeLessThanOrEqual((found?.length ?? 0) + 1);
    }),
    { numRuns: 20_000 },
  );
  expect(takenOnes).toBeGreaterThan(100);
});

test.for([
  ["(", ""],
  ["!", ""],
  ["[", "]"],
  ["a[?", "]"],
  ["{a:", "}"],
  ["length(", ")"],
  ["&", ""],
  [`\`${"[".repeat(60_000)}`, ""],
  ["'\\'", ""],
])("text of the largest size that is nested in %j is refused, and soon", ([open = "", close = ""]) => {
  const count = Math.floor(65_536 / (open.length + close.length));
  const began = performance.now();
  expect(expressionFault(`${open.repeat(count)}a${close.repeat(count)}`)).toMatch(/^line 1, column \d+: /);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a long expression that is not deep is taken", () => {
  expect(
    expressionFault(Array.from({ length: 5_000 }, (_, index) => `a.b[${index}]`).join(" || ")),
  ).toBeUndefined();
});
