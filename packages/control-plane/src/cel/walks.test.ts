import { expect, test } from "vitest";
import { type Matcher, MatchPending, Patterns } from "../patterns/index.ts";
import { finish, type Steps } from "../steps.ts";
import { fromJson, toJson } from "./convert.ts";
import { compileCel } from "./expression.ts";
import { KUBERNETES } from "./library/index.ts";
import { Meter } from "./meter.ts";
import { DYN } from "./types.ts";
import { CelError } from "./values.ts";

const object = {
  names: ["a", "b", "c", "bb"],
  sizes: { a: 1, b: 2, c: 3 },
  rows: [
    [1, 2],
    [3, 4],
    [5, 6],
  ],
};

/** Runs an expression to its end, as often as it takes. */
async function run(text: string, matcher: Matcher, costPerTurn?: number) {
  const compiled = compileCel(text, { variables: new Map([["object", DYN]]), library: KUBERNETES, matcher });
  if (compiled.errors !== undefined) throw new Error(compiled.errors);
  const bound = new Map([["object", fromJson(object)]]);
  const meter = new Meter(1_000_000, matcher, costPerTurn === undefined ? {} : { costPerTurn });
  let begun = 0;
  function* steps(): Steps<unknown> {
    for (;;) {
      try {
        begun++;
        return toJson(compiled.errors === undefined ? compiled.run(bound, meter.begin()) : null);
      } catch (error) {
        if (error instanceof CelError) return error.message;
        if (!(error instanceof MatchPending)) throw error;
        yield error.settle;
      }
    }
  }
  return { value: await finish(steps()), spent: meter.spent, begun };
}

test.for([
  "object.names.all(name, name.size() > 0)",
  "object.names.exists(name, name == 'bb')",
  "object.names.exists_one(name, name.startsWith('b'))",
  "object.names.map(name, name + name)",
  "object.names.filter(name, name != 'b').map(name, name + '!')",
  "object.names.all(a, object.names.exists(b, a == b) && object.names.all(c, c != a + 'x'))",
  "object.rows.map(row, row.map(cell, cell * 2).filter(cell, cell > 2))",
  "object.rows.all(row, row.all(cell, cell > 0)) && object.rows.exists(row, row.exists(cell, cell == 6))",
  "object.rows.exists(row, row.all(cell, cell > 9)) || object.names.all(name, name.matches('^[abc]+$'))",
  "object.sizes.all(name, object.sizes[name] > 0) ? object.names.map(name, name) : []",
  "object.names.sortBy(name, 0 - name.size())",
  "object.sizes.transformMap(name, size, size * 2)",
  "object.sizes.transformList(name, size, name)",
  "object.names.all(name, object.sizes[name] > 0)",
  "object.names.exists(name, object.sizes[name] == 2)",
  "object.names.map(name, object.sizes[name])",
  "object.names.all(name, object.sizes.all(key, object.nothing == key)) || object.names.exists(name, name == 'c')",
  "5.map(x, x)".replace("5", "object.names[0]"),
])("%s says and costs the same however often it is interrupted", async (text) => {
  await using patterns = new Patterns();
  const matcher = patterns.matcher();
  const whole = await run(text, matcher);
  expect(whole.begun).toBe(1);
  for (const costPerTurn of [1, 5, 20]) {
    const { begun, ...rest } = await run(text, matcher, costPerTurn);
    expect(rest).toEqual({ value: whole.value, spent: whole.spent });
    if (whole.spent > 40) expect(begun).toBeGreaterThan(1);
  }
});

test("an interrupted expression does not do again what it has done", async () => {
  await using patterns = new Patterns();
  const text = "lists.range(200).all(a, lists.range(20).all(b, a + b >= 0))";
  const whole = await run(text, patterns.matcher());
  const { begun, spent, value } = await run(text, patterns.matcher(), 1_000);
  expect([value, spent]).toEqual([true, whole.spent]);
  expect(begun).toBeLessThanOrEqual(Math.ceil(whole.spent / 1_000) + 1);
});
