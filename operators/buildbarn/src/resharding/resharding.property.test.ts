import fc from "fast-check";
import { expect, test } from "vitest";
import { LostBlobError, Model } from "./model.fixture.ts";

const actions = Array.from({ length: 12 }, (_, index) => `action ${index}`);
const hold = 60_000;

/** Something that happens, in any order: the operator may die between any two of them. */
type Happening =
  | { readonly is: "apply" | "decide" | "shard" }
  | { readonly is: "catchUp" | "roll"; readonly set: number }
  | { readonly is: "time"; readonly ms: number }
  | { readonly is: "want"; readonly shards: number }
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
const change: fc.Arbitrary<Happening> = fc.record({
  is: fc.constant("want"),
  shards: fc.integer({ min: 1, max: 5 }),
});

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
      model.wanted = what.shards;
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
    for (const _ of [1, 2, 3, 4, 5]) model.moveShard();
    // What is used while blobs are copied is what the cache keeps.
    for (const [index, action] of used.entries()) model.build(action, index, round);
    model.now += hold / 4;
    model.decide();
  }
}

test("no order of events, and no death of the operator, fails a build or loses what is used", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.oneof({ weight: 20, arbitrary: happening }, { weight: 1, arbitrary: change }), {
        minLength: 20,
        maxLength: 400,
        size: "max",
      }),
      fc.integer({ min: 1, max: 5 }),
      (shards, happenings, wanted) => {
        const model = new Model(shards, hold);
        model.wanted = wanted;
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        for (const what of happenings) happen(model, what);
        settle(model, actions);
        expect(model.state).toEqual({ phase: "Stable", shards: model.wanted });
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
      fc.constantFrom([2, 3], [3, 2], [1, 4], [4, 1]),
      fc.array(
        happening.filter(({ is }) => is !== "build"),
        { minLength: 100, maxLength: 300, size: "max" },
      ),
      ([from = 1, to = 1], happenings) => {
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

test("a new result is a hit for every client at every moment of a change, whoever wrote it", () => {
  fc.assert(
    fc.property(
      fc.constantFrom([2, 3], [3, 2], [1, 4], [4, 1]),
      fc.array(
        happening.filter(({ is }) => is !== "build"),
        { minLength: 100, maxLength: 300, size: "max" },
      ),
      ([from = 1, to = 1], happenings) => {
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
      fc.constantFrom([2, 3], [3, 2], [1, 4], [4, 1]),
      fc.array(fc.integer({ min: 1, max: hold / 20 }), { minLength: 60, maxLength: 120, size: "max" }),
      ([from = 1, to = 1], pauses) => {
        const model = new Model(from, hold);
        for (const [index, action] of actions.entries()) model.build(action, index, index);
        model.wanted = to;
        const due = actions.map((_, index) => (index / actions.length) * hold);
        // Short pauses alone may not add up to a hold: the last rounds make sure that the change ends.
        const rounds = [...pauses, ...Array.from({ length: 40 }, () => hold / 20)];
        for (const [round, pause] of rounds.entries()) {
          model.now += pause;
          model.applyShards();
          for (const _ of [1, 2, 3, 4]) model.moveShard();
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
        expect(model.state).toEqual({ phase: "Stable", shards: to });
      },
    ),
    { numRuns: 60 },
  );
});

test("the model is strict: clients that change maps in one rollout lose blobs", () => {
  const model = new Model(2, hold);
  model.applyShards();
  model.states.push({ phase: "Switching", from: 2, to: 3 });
  model.applyShards();
  model.moveShard();
  model.catchUp(0);
  for (const _ of [1, 2, 3, 4]) model.rollPod(0);
  const builds = () => {
    for (const [index, action] of actions.entries()) model.build(action, index, index);
  };
  expect(builds).toThrow(LostBlobError);
});
