import fc from "fast-check";
import { expect, test } from "vitest";
import { type Json, type JsonObject, stringify } from "./json.ts";
import { stringifyInSteps, textToStampInSteps } from "./json-text.ts";
import { builtinSchema, normalize, normalizeInSteps } from "./kinds/index.ts";
import { compare, compareInSteps, everyField, everyFieldInSteps } from "./merge/compare.ts";
import { rootType } from "./merge/typed.ts";
import { faultsInSteps, faultsOf } from "./merge/validate.ts";
import { parseJson, parseJsonInSteps } from "./schema/parse-json.ts";
import { parseYaml, parseYamlInSteps } from "./schema/parse-yaml.ts";
import { finish, type Steps } from "./steps.ts";
import { sizeInSteps, sizeOf } from "./storage/history.ts";

/** Runs steps, and counts the turns that they give to everything else. */
async function inTurns<T>(steps: Steps<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  const counted = (function* (): Steps<T> {
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done) return next.value;
      turns++;
      yield next.value;
    }
  })();
  return { result: await finish(counted), turns };
}

/** Whatever is done: its result, or what it throws. */
async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: String(error) };
  }
}

const pod = { group: "", version: "v1", kind: "Pod" };
const type = rootType(builtinSchema("", "v1", "Pod"));

const value = fc.constantFrom<Json>("v", "", null, 1, "2", true);
const container = fc.record(
  {
    name: fc.constantFrom("a", "b", "c"),
    image: value,
    command: fc.array(fc.constantFrom("x", "")),
    resources: fc.record({ limits: fc.dictionary(fc.constantFrom("cpu", "memory"), value) }),
    ports: fc.array(fc.record({ containerPort: fc.constantFrom(1, 2) })),
  },
  { requiredKeys: ["name"] },
);
/** A pod that is large in a place of its own: pads a drawn one. */
const drawn = fc.record({
  labels: fc.oneof(fc.constant(null), fc.dictionary(fc.constantFrom("a", "b", "__proto__"), value)),
  containers: fc.oneof(fc.constant(null), fc.array(container, { maxLength: 4 })),
  pad: fc.constantFrom("labels", "containers", "both", "none"),
  odd: fc.constantFrom<Json>("fine", "fine", "fine", 5, [], {}),
});

function large({
  labels,
  containers,
  pad,
  odd,
}: typeof drawn extends fc.Arbitrary<infer T> ? T : never): JsonObject {
  const more = (name: string) => pad === name || pad === "both";
  const padded = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`k${(at * 7) % 6_000}`, "v"]));
  const rest = Array.from({ length: 6_000 }, (_, at) => ({
    name: `c${at}`,
    image: at === 5_000 ? odd : "i",
  }));
  return {
    metadata: { name: "p", labels: more("labels") ? { ...padded, ...labels } : labels },
    spec: { containers: more("containers") ? [...rest, ...(containers ?? [])] : containers },
  } as JsonObject;
}

test("a large object has the same form, fields, differences and faults in steps as in one go", async () => {
  let turns = 0;
  const same = async <T>(steps: () => Steps<T>, atOnce: () => T) => {
    const inSteps = await outcome(async () => {
      const done = await inTurns(steps());
      turns += done.turns;
      return done.result;
    });
    expect(inSteps).toEqual(await outcome(atOnce));
  };
  await fc.assert(
    fc.asyncProperty(drawn, drawn, async (first, second) => {
      const [before, after] = [large(first), large(second)];
      for (const stage of ["decoded", "stored"] as const)
        await same(
          () => normalizeInSteps(pod, after, stage),
          () => normalize(pod, after, stage),
        );
      await same(
        () => everyFieldInSteps(after, type),
        () => everyField(after, type),
      );
      await same(
        () => compareInSteps(before, after, type),
        () => compare(before, after, type),
      );
      for (const duplicates of ["allowed", "refused"] as const)
        await same(
          () => faultsInSteps(after, type, duplicates),
          () => faultsOf(after, type, duplicates),
        );
      await same(
        () => stringifyInSteps(after),
        () => stringify(after),
      );
      await same(
        () => sizeInSteps(after),
        () => sizeOf(after),
      );
      const stamped = { ...after, metadata: { ...(after.metadata as JsonObject), resourceVersion: "7" } };
      await same(
        function* () {
          const { before: start, after: end } = yield* textToStampInSteps(after);
          return `${start}"7"${end}`;
        },
        () => stringify(stamped),
      );
      const text = JSON.stringify(after);
      await same(
        () => parseJsonInSteps(text, { findDuplicates: true }),
        () => parseJson(text, { findDuplicates: true }),
      );
    }),
    { numRuns: 12 },
  );
  expect(turns).toBeGreaterThan(30);
}, 120_000);

test("a field that a long text has twice is found, and nothing else", async () => {
  const long = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`k${at}`, { a: [1, { b: 2 }] }]),
  );
  const text = JSON.stringify(long);
  const read = (part: string) => finish(parseJsonInSteps(part, { findDuplicates: true }));
  expect((await read(text)).duplicates).toEqual([]);
  const twice = text.replace('"k19000":{"a"', '"k19000":{"a":":{},","a"');
  expect((await read(twice)).duplicates).toEqual(['duplicate field "k19000.a"']);
  expect((await read(twice)).value).toEqual(long);
});

const long = `"${"x".repeat(40_000)}"`;
const scalar = fc.constantFrom(long, long, "1", "1.0", "-0", "9007199254740993", "true", "null", '"]{"');
const { text: anyText } = fc.letrec<{ text: string; list: string; object: string }>((tie) => ({
  text: fc.oneof({ depthSize: "large", maxDepth: 6 }, scalar, tie("list"), tie("object")),
  list: fc.array(tie("text"), { maxLength: 5 }).map((items) => `[ ${items.join(", ")}]`),
  object: fc
    .array(fc.tuple(fc.constantFrom("a", "b", "c", "__proto__"), tie("text")), { maxLength: 5 })
    .map((fields) => `{${fields.map(([name, held]) => `"${name}" :${held}`).join(" ,")} }`),
}));
/** Puts something in a text, or takes something away: it may be no JSON then. */
const damage = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    put: fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "1", "x", ""),
  }),
  { freq: 1 },
);

test("a long text is read, or refused, in pieces as it is in one go", async () => {
  let turns = 0;
  await fc.assert(
    fc.asyncProperty(anyText, damage, async (inner, harm) => {
      const whole = `[${long},${long},${inner},${inner}]`;
      const isPlace = /["{}[\],:\d]/g;
      const places = [...whole.matchAll(isPlace)].map(({ index }) => index);
      const at = harm ? (places[Math.floor(harm.at * (places.length - 1))] as number) : 0;
      const text = harm ? whole.slice(0, at) + harm.put + whole.slice(at + (harm.put === "" ? 1 : 0)) : whole;
      const options = { findDuplicates: true, outOfRange: "noted" } as const;
      const inPieces = await outcome(async () => {
        const done = await inTurns(parseJsonInSteps(text, options));
        turns += done.turns;
        return done.result;
      });
      expect(inPieces).toStrictEqual(await outcome(() => parseJson(text, options)));
    }),
    { numRuns: 100 },
  );
  expect(turns).toBeGreaterThan(150);
}, 120_000);

const padding = "x".repeat(9_000);

test("a long text that is cut off anywhere is refused in the same words", async () => {
  const text = JSON.stringify({ a: Array.from({ length: 20 }, (_, at) => ({ [`k${at}`]: [at, padding] })) });
  for (let end = text.length; end > text.length - 12; end--) {
    const cut = text.slice(0, end);
    const read = await outcome(() => finish(parseJsonInSteps(cut)));
    expect(read).toEqual(await outcome(() => parseJson(cut)));
  }
}, 60_000);

const many = Array.from({ length: 12_000 }, (_, at) => at);
const blocks = {
  mapping: (indent: string) => many.map((at) => `${indent}k${at}: ${at}\n`).join(""),
  list: (indent: string) => many.map((at) => `${indent}- [${at}, 0o1${at}]\n`).join(""),
  flow: (indent: string) => `${indent}{${many.map((at) => `k${at}: v`).join(", ")}}\n`,
  objects: (indent: string) => many.map((at) => `${indent}- a: ${at}\n${indent}  b: [x]\n`).join(""),
};
const yaml = fc.record({
  first: fc.constantFrom(...Object.values(blocks)),
  second: fc.constantFrom(...Object.values(blocks)),
  more: fc.constantFrom(
    "",
    "a:\n  again: true\n",
    "c: 0x1F\n__proto__:\n  x: 1.0\n1: yes\n",
    "c: &c [1]\nd: *c\n",
    "c: {<<: {m: 1}}\n",
    "c: !!str 1\n? d\n: e\n? [f]\n: g\n",
    "c: .nan\n",
    "c: [\n",
    "---\nc: 1\n",
  ),
});

test("long YAML is read in groups as it is in one go", async () => {
  let turns = 0;
  await fc.assert(
    fc.asyncProperty(yaml, async ({ first, second, more }) => {
      const text = `top: 1\na:\n${first("  ")}b:\n  inner:\n${second("    ")}${more}`;
      const inGroups = await outcome(async () => {
        const done = await inTurns(parseYamlInSteps(text));
        turns += done.turns;
        return done.result;
      });
      expect(inGroups).toStrictEqual(await outcome(() => parseYaml(text)));
    }),
    { numRuns: 12, examples: [[{ first: blocks.mapping, second: blocks.objects, more: "" }]] },
  );
  expect(turns).toBeGreaterThan(10);
}, 120_000);
