import fc from "fast-check";
import { expect, test } from "vitest";
import { SwitchingModel } from "./switching-model.fixture.ts";

interface Act {
  /** Who does something. */
  readonly who: string;
  readonly run: (model: SwitchingModel, late: readonly string[]) => unknown;
}

const few = fc.integer({ min: 0, max: 3 });
const one = fc.constantFrom(0, 1);
const writes = fc.oneof(few, fc.constant(Infinity));
const spans = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 6_000 }));
const wishes = fc.constantFrom("sleep" as const, "stay" as const, "wake" as const);

function act<T>(
  who: string,
  given: fc.Arbitrary<T>,
  run: (model: SwitchingModel, given: T, late: readonly string[]) => unknown,
) {
  return given.map((value): Act => ({ who, run: (model, late) => run(model, value, late) }));
}

/** Everything that can happen: components follow late, and the operator dies between two writes. */
const anyAct = fc.oneof(
  { weight: 6, arbitrary: act("operator", writes, (model, n) => model.reconcile(n)) },
  { weight: 2, arbitrary: act("node 0", few, (model, n) => model.syncNode(0, n)) },
  { weight: 2, arbitrary: act("node 1", few, (model, n) => model.syncNode(1, n)) },
  { weight: 2, arbitrary: act("resolver 0", few, (model, n) => model.syncResolver(0, n)) },
  { weight: 2, arbitrary: act("resolver 1", few, (model, n) => model.syncResolver(1, n)) },
  { weight: 3, arbitrary: act("endpoints", few, (model, n) => model.syncEndpoints(n)) },
  { weight: 2, arbitrary: act("target", few, (model, n) => model.syncTarget(n)) },
  { weight: 2, arbitrary: act("kubelet", fc.constant(0), (model) => model.syncKubelet()) },
  { weight: 3, arbitrary: act("time", spans, (model, ms) => model.advance(ms)) },
  { weight: 2, arbitrary: act("requests end", one, (model, i) => model.finish(i)) },
  { weight: 1, arbitrary: act("client", fc.tuple(one, few), (model, [i, n]) => model.request(i, n)) },
  {
    weight: 1,
    arbitrary: act("wish", wishes, (model, wish) => {
      model.wish = wish;
    }),
  },
  { weight: 4, arbitrary: act("everybody", spans, (model, ms, late) => model.settle(1, late, ms)) },
);
const latecomers = fc.subarray(["node 0", "node 1", "resolver 1", "target", "client", "wish", "everybody"]);
const restsAt = fc.constantFrom("Serving" as const, "Relaying" as const);
const acts = fc.array(anyAct, { minLength: 40, maxLength: 200, size: "max" });

test("no connection is ever lost, whatever is late and wherever the operator is killed", () => {
  fc.assert(
    fc.property(restsAt, fc.integer({ min: 1, max: 3 }), latecomers, acts, (rest, pods, late, all) => {
      const model = new SwitchingModel(pods, rest);
      model.wish = "sleep";
      for (const each of all) {
        // Who is late moves only when the longest lag is over.
        if (!late.includes(each.who)) each.run(model, late);
        model.check();
      }
    }),
    { numRuns: 3_000 },
  );
});

test("from wherever it was left, an idle service falls asleep, and a request wakes it and is answered", () => {
  fc.assert(
    fc.property(restsAt, acts, (rest, all) => {
      const model = new SwitchingModel(1, rest);
      for (const each of all) each.run(model, []);
      model.wish = "sleep";
      model.settle(60);
      expect(model.stage.at).toBe("Asleep");
      expect([model.replicas, model.held]).toEqual([0, 0]);
      expect(model.request(1, 1)).toBe("held");
      model.wish = "stay";
      model.settle(60);
      expect(model.stage.at).toBe(rest);
      expect([model.held, model.hasDemand]).toEqual([0, false]);
      expect(model.isResolverInService).toBe(rest === "Relaying");
    }),
    { numRuns: 500 },
  );
});
