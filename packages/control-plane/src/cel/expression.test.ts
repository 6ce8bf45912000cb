import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { matcher } from "../patterns/patterns.fixture.ts";
import type { Schema } from "../schema/schema.ts";
import { finishNow } from "../steps.ts";
import { compileExpression } from "./expression.fixture.ts";
import type { AccessQuestion } from "./library/authorizer.ts";
import { CostExceeded } from "./meter.ts";
import recorded from "./recorded-results.json" with { type: "json" };
import { compileRules } from "./rules.ts";
import { CelError } from "./values.ts";

test("expressions give what they give on kube-apiserver 1.35", () => {
  const results = recorded.results as [string, string][];
  const rules = results.map(([expression]) => ({
    rule: `'%s'.format([dyn(${expression})]) == 'never'`,
    messageExpression: `'%s'.format([dyn(${expression})])`,
  }));
  const schema = { ...recorded.schema, "x-kubernetes-validations": rules } as unknown as Schema;
  const compiled = compileRules({ type: "object", properties: { spec: schema } });
  const object = { spec: recorded.object as unknown as JsonObject };
  const causes = finishNow(compiled.evaluate(matcher(), object));
  expect(causes.map((cause, index) => [results[index]?.[0], cause.message])).toEqual(results);
});

function run(text: string, variables: JsonObject = {}, limit = 1_000_000): unknown {
  const expression = compileExpression(text, ["object", "oldObject", "request"], matcher());
  if (expression.errors !== undefined) throw new Error(expression.errors);
  return expression.evaluate(variables, limit);
}

test("match conditions see untyped objects", () => {
  const object = { spec: { replicas: 3, ratio: 0.5, list: [1, 2] } };
  expect(run("object.spec.replicas + 1", { object })).toBe(4);
  expect(run("object.spec.ratio < 1", { object })).toBe(true);
  expect(run("has(object.spec.nope) || oldObject == null", { object })).toBe(true);
  expect(run("object.spec.list.exists(x, x == 2)", { object })).toBe(true);
  expect(() => run("object.spec.nope", { object })).toThrow(new CelError("no such key: nope"));
  expect(() => run("object.spec.replicas + 'x'", { object })).toThrow(new CelError("no such overload"));
});

test("an expression may ask what a user is allowed to do", () => {
  const expression = compileExpression(
    "authorizer.group('apps').resource('deployments').namespace('a').check('delete').allowed() && !authorizer.path('/x').check('get').allowed()",
    ["authorizer"],
    matcher(),
  );
  if (expression.errors !== undefined) throw new Error(expression.errors);
  const asked: AccessQuestion[] = [];
  const answer = expression.evaluate({}, 1_000_000, (question) => {
    asked.push(question);
    return { allowed: question.resource === "deployments", reason: "" };
  });
  expect(answer).toBe(true);
  expect(asked).toEqual([
    { group: "apps", resource: "deployments", namespace: "a", verb: "delete" },
    { path: "/x", verb: "get" },
  ]);
});

test.each([
  [
    "object ==",
    "ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object ==\n | .........^",
  ],
  ["nope", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^"],
  [
    "1 + 'a'",
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
  ],
  ["true &&\n  1", "ERROR: <input>:2:3: expected type 'bool' but found 'int'\n |   1\n | ..^"],
])("%j is refused with the place it is wrong at", (text, errors) => {
  expect(compileExpression(text, ["object"], matcher()).errors).toBe(errors);
});

test("an expression that costs too much is stopped, and cannot catch that", () => {
  const numbers = { object: { list: Array.from({ length: 1000 }, (_, index) => index) } };
  expect(run("object.list.all(x, x >= 0)", numbers)).toBe(true);
  const costly = "object.list.all(x, object.list.all(y, x + y >= 0)) || true";
  expect(() => run(costly, numbers)).toThrow(CostExceeded);
});

test("whatever the text, it compiles or is refused", () => {
  const pieces = fc.constantFrom(
    ..."()[]{}.,?:+-*/%!<>=&|'\"\\ ".split(""),
    "object",
    "has",
    "all",
    "map",
    "in",
    "x",
    "1",
    "2u",
    "1.5",
    "r'",
    "b'",
    "null",
    "true",
    "==",
    "&&",
    "||",
    ".?",
    "[?",
    "size",
    "optMap",
    "self",
    "\n",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 25, size: "max" }).map((parts) => parts.join("")),
      (text) => {
        const expression = compileExpression(text, ["object"], matcher());
        if (expression.errors !== undefined) return;
        try {
          expression.evaluate({ object: { x: [1, "a"] } }, 10_000);
        } catch (error) {
          expect(error instanceof CelError || error instanceof CostExceeded).toBe(true);
        }
      },
    ),
    { numRuns: 5000 },
  );
});
