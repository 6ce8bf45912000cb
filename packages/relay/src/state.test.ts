import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Event, joined, type Side, type State, step } from "./state.ts";

const after = (...events: Event[]): State => events.reduce(step, joined);
const ended = (side: Side): Event => ({ type: "ended", side });
const flushed = (side: Side): Event => ({ type: "flushed", side });
const closed = (side: Side, error?: Error): Event => ({ type: "closed", side, error });

test("a relay is closed when both sides have ended and both have received all", () => {
  expect(after(ended("client"), flushed("client"), ended("upstream"), flushed("upstream"))).toEqual({
    at: "over",
    outcome: { how: "closed" },
  });
});

test("a side that has sent and received all may close first", () => {
  const before = after(ended("client"), flushed("client"), ended("upstream"));
  expect(step(before, closed("upstream"))).toEqual(before);
  expect(step(step(before, closed("upstream")), flushed("upstream"))).toEqual({
    at: "over",
    outcome: { how: "closed" },
  });
});

test.for<[string, Event[], Side]>([
  ["has not ended", [], "client"],
  ["has ended but has not received all", [ended("client"), flushed("client")], "client"],
  ["has received all but has not ended", [ended("client"), flushed("client")], "upstream"],
])("a side that closes when it %s is lost", ([, events, side]) => {
  expect(after(...events, closed(side))).toEqual({
    at: "over",
    outcome: { how: "lost", side, error: undefined },
  });
});

test("a side that fails is lost with its error, even after it had sent and received all", () => {
  const error = new Error("reset");
  const state = after(ended("client"), flushed("client"), ended("upstream"), closed("upstream", error));
  expect(state).toEqual({ at: "over", outcome: { how: "lost", side: "upstream", error } });
});

test("the first outcome stands, and only two ends with two flushes make a relay closed", () => {
  const side = fc.constantFrom<Side>("client", "upstream");
  const event = fc.oneof<fc.Arbitrary<Event>[]>(
    side.map(ended),
    side.map(flushed),
    side.map((one) => closed(one)),
    fc.constantFrom<Event>({ type: "limit", limit: "idle" }, { type: "limit", limit: "total" }),
    fc.constant<Event>({ type: "aborted", reason: "enough" }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      let state: State = joined;
      const orderly = { client: 0, upstream: 0 };
      for (const one of events) {
        const next = step(state, one);
        if (state.at === "over") {
          expect(next).toBe(state);
          continue;
        }
        if (one.type === "ended" && orderly[one.side] === 0) orderly[one.side] = 1;
        if (one.type === "flushed" && orderly[one.side] === 1) orderly[one.side] = 2;
        const isClosed = next.at === "over" && next.outcome.how === "closed";
        expect(isClosed).toBe(orderly.client === 2 && orderly.upstream === 2 && next.at === "over");
        state = next;
      }
    }),
    { numRuns: 1_000 },
  );
});
