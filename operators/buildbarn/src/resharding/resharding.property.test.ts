import fc from "fast-check";
import { expect, test } from "vitest";
import { type Layout, layout, layoutText, parseLayout } from "./layout.ts";
import { LostBlobError, Model } from "./model.fixture.ts";

const actions = Array.from({ length: 12 }, (_, index) => `action ${index}`);
const hold = 60_000;

/** Something that happens, in any order: the operator may die between any two of them. */
type Happening =
  | { readonly is: "apply" | "decide" | "shard" }
  | { readonly is: "catchUp" | "roll"; readonly set: number }
  | { readonly is: "time"; readonly ms: number }
  | { readonly is: "want"; readonly layout: Layout }
  | { readonly is: "build"; readonly action: number; readonly frontend: number; readonly worker: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom({ is: "apply" }, { is: "decide" }, { is: "shard" }) },
  { weight: 5, arbitrary: fc.record({ is: fc.constantFrom("catchUp", "roll"), set: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("time"), ms: fc.integer({ min: 1, max: hold }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant("build"),
      action: fc.nat(23),
      frontend: fc.nat(),
      worker: fc.nat(),
    }),
  },
);
/** Any layout of up to so many shards. */
function layouts(most: number): fc.Arbitrary<Layout> {
  return fc
    .record({
      shards: fc.integer({ min: 1, max: most }),
      weights: fc.oneof(
        fc.constant<number[]>([]),
        fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: most }),
      ),
      drained: fc.oneof(fc.constant<number[]>([]), fc.array(fc.nat(most - 1), { maxLength: 2 })),
      isMirrored: fc.boolean(),
    })
    .map((own) => layout({ ...own, drained: own.drained.filter((number) => number > 0) }));
}
const change: fc.Arbitrary<Happening> = fc.record({
  is: fc.constant("want"),
  layout: layouts(5),
});
/** A change of everything that a layout has, and of each. */
const changes = fc.constantFrom(
  ...[
    ["2", "3"],
    ["3", "2"],
    ["1", "4"],
    ["4", "1"],
    ["3", "3w1.2"],
    ["3", "3d1"],
    ["3d1", "3"],
    ["2", "2m"],
    ["2m", "2"],
    ["2", "3w1.2d1m"],
    ["3w1.2d1m", "2"],
  ].map(([from = "", to = ""]) => [at(from), at(to)] as const),
);
function at(text: string): Layout {
  const parsed = parseLayout(text);
  if (!parsed) throw new Error(text);
  return parsed;
}

function happen(model: Model, what: Happening): void {
  switch (what.is) {
    case "apply":
      model.applyShards();
      return;
    case "decide":
      model.decide();
      return;
    case "shard":
      model.moveShard();
      return;
    case "catchUp":
      model.catchUp(what.set);
      return;
    case "roll":
      model.rollPod(what.set);
      return;
    case "time":
      model.now += what.ms;
      return;
    case "want":
      model.wanted = what.layout;
      return;
    case "build":
      model.build(`action ${what.action}`, what.frontend, what.worker);
  }
}

/** Everything goes on until nothing changes any more. Builds go on too. */
function settle(model: Model, used: readonly string[]): void {
  for (let round = 0; round < 32; round++) {
    for (const set of [0, 1])
      for (const _ of [1, 2, 3, 4])
        for (const act of ["catchUp", "roll"] as const) happen(model, { is: act, set });
    model.applyShards();
    for (let turn = 0; turn < 11; turn++) model.moveShard();
    // What is used while blobs are copied is what the cache keeps.
    for (const [index, action] of used.entries()) model.build(action, index, round);
    model.now += hold / 4;
    model.decide();
  }
}

test("no order of events, and no death of the operator, fails a build or loses what is used", () => {
  fc.assert(
    fc.property(
      layouts(4),
      fc.array(fc.oneof({ weight: 20, arbitrary: happening }, { weight: 1, arbitrary: change }), {
        minLength: 20,
        maxLength: 400,
        size: "max",
      }),
      layouts(5),
      (before, happenings, wanted) => {
        const model = new Model(before, hold);
        model.wanted = wanted;
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        for (const what of happenings) happen(model, what);
        settle(model, actions);
        expect(model.state).toEqual({ phase: "Stable", at: model.wanted });
        for (const [index, action] of actions.entries())
          expect(model.build(action, index, index)).toBe("hit");
      },
    ),
    { numRuns: 150 },
  );
});

test("what was in the cache before is a hit at every moment of a change", () => {
  fc.assert(
    fc.property(
      changes,
      fc.array(
        happening.filter(({ is }) => is !== "build"),
        { minLength: 100, maxLength: 300, size: "max" },
      ),
      ([from, to], happenings) => {
        const model = new Model(from, hold);
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        model.wanted = to;
        for (const [step, what] of happenings.entries()) {
          happen(model, what);
          for (const [index, action] of actions.entries())
            expect(model.build(action, index + step, step)).toBe("hit");
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("a new result is a hit for every client at every moment of a change, whichever client wrote it", () => {
  fc.assert(
    fc.property(
      changes,
      fc.array(
        happening.filter(({ is }) => is !== "build"),
        { minLength: 100, maxLength: 300, size: "max" },
      ),
      ([from, to], happenings) => {
        const model = new Model(from, hold);
        model.wanted = to;
        for (const [index, what] of happenings.entries()) {
          happen(model, what);
          if (index % 2 === 0) model.upload(`new ${index}`, index);
          else model.build(`new ${index}`, index, index);
          // The last ones were written by clients that may since have gone over.
          for (let age = 0; age < 6 && age <= index; age++)
            for (let frontend = 0; frontend < 4; frontend++)
              expect(model.build(`new ${index - age}`, frontend, index)).toBe("hit");
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("what is used once in every hold is a hit each time, however quick the rollouts are", () => {
  fc.assert(
    fc.property(
      changes,
      fc.array(fc.integer({ min: 1, max: hold / 20 }), { minLength: 60, maxLength: 120, size: "max" }),
      ([from, to], pauses) => {
        const model = new Model(from, hold);
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        model.wanted = to;
        const due = actions.map((_, index) => (index / actions.length) * hold);
        // Short pauses alone may not add up to a hold: the last rounds make sure that the change
        // ends.
        const rounds = [...pauses, ...Array.from({ length: 40 }, () => hold / 20)];
        for (const [round, pause] of rounds.entries()) {
          model.now += pause;
          model.applyShards();
          for (let turn = 0; turn < 9; turn++) model.moveShard();
          for (const set of [0, 1]) {
            model.catchUp(set);
            for (const _ of [1, 2, 3, 4]) model.rollPod(set);
          }
          for (const [index, action] of actions.entries()) {
            if ((due[index] ?? 0) > model.now) continue;
            expect(model.build(action, index + round, round)).toBe("hit");
            // A round may be late by one pause.
            due[index] = model.now + hold - hold / 20;
          }
          model.decide();
        }
        expect(model.state).toEqual({ phase: "Stable", at: to });
      },
    ),
    { numRuns: 60 },
  );
});

test("the model is strict: clients that change maps in one rollout lose blobs", () => {
  const model = new Model(at("2"), hold);
  model.applyShards();
  model.states.push({ phase: "Switching", from: at("2"), to: at("3") });
  model.applyShards();
  model.moveShard();
  model.catchUp(0);
  for (const _ of [1, 2, 3, 4]) model.rollPod(0);
  const builds = () => {
    for (const [index, action] of actions.entries()) model.build(action, index, index);
  };
  expect(builds).toThrow(LostBlobError);
});

test("a shard that is lost is drained: builds work again, and lose no more than what it kept", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(at("3"), at("4w1.2"), at("4d3")),
      fc.integer({ min: 0, max: 2 }),
      fc.array(
        happening.filter(({ is }) => is !== "build"),
        { minLength: 50, maxLength: 200, size: "max" },
      ),
      (before, lost, happenings) => {
        const model = new Model(before, hold);
        model.drainTimeout = hold;
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        const kept = actions.filter((action) => !model.needs(action, before).has(lost));
        model.loseShard(lost);
        model.wanted = layout({ ...before, drained: [...(before.drained ?? []), lost] });
        for (const what of happenings) {
          happen(model, what);
          // What was never on it is found all the while.
          for (const [index, action] of kept.entries()) expect(model.build(action, index, index)).toBe("hit");
        }
        settle(model, []);
        expect(model.state).toEqual({ phase: "Stable", at: model.wanted });
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        for (const [index, action] of actions.entries())
          expect(model.build(action, index, index)).toBe("hit");
      },
    ),
    { numRuns: 60 },
  );
});

test("every layout is read as it was written", () => {
  fc.assert(
    fc.property(layouts(12), (one) => {
      expect(parseLayout(layoutText(one))).toEqual(one);
    }),
  );
});
