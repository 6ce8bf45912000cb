import { expect, test } from "vitest";
import {
  type Effect,
  initialState,
  type ReflectorEvent,
  type ReflectorState,
  type RequestFailure,
  step,
  type Take,
} from "./reflector.ts";

type Entry = ReflectorEvent | [number, ReflectorEvent];

/** Plays events at given times; random numbers are always 0, so waits are at their shortest. */
function play(...events: readonly Entry[]) {
  let state: ReflectorState = initialState;
  let effects: readonly Effect[] = [];
  let take: Take | undefined;
  let now = 0;
  for (const entry of events) {
    const event = Array.isArray(entry) ? entry[1] : entry;
    if (Array.isArray(entry)) now = entry[0];
    ({ state, effects, take } = step(state, event, { now, chance: 0 }));
  }
  return { state, effects, take };
}

const start: ReflectorEvent = { type: "start" };
const complete: ReflectorEvent = { type: "bookmark", version: "10", endsInitial: true };
const failure = (failure: RequestFailure): ReflectorEvent => ({ type: "failed", failure });
const passing = failure({ is: "passing", message: "refused" });
const unreachable = failure({ is: "unreachable", message: "no server answered" });
const expired = failure({ is: "expired", message: "too old" });
const missing = failure({ is: "missing", message: "404" });
const unreliable = failure({ is: "unreliable", message: "too large" });
const invalid = failure({ is: "refused", message: "422", forGood: true });
const begin: Effect = { do: "begin", list: { reusesHeld: true, isConsistent: true } };
const streamed = (version: string): Effect => ({
  do: "open",
  opening: { as: "stream", version, timeoutSeconds: 300 },
});

test("it first asks for a stream of what there is, at the most recent version", () => {
  expect(play(start).effects).toEqual([
    begin,
    { do: "open", opening: { as: "stream", version: "", timeoutSeconds: 300 } },
  ]);
});

test("the end bookmark commits what was streamed, and the same stream goes on", () => {
  const { state, effects } = play(start, { type: "bookmark", version: "5", endsInitial: false }, complete);
  expect(effects).toEqual([{ do: "commit", version: "10" }]);
  expect(state).toMatchObject({ at: "watching", version: "10" });
});

test("what comes belongs to the list under way, then changes what is held, and is dropped while nothing is open", () => {
  const object: ReflectorEvent = { type: "object", version: "11" };
  expect(play(start, object)).toMatchObject({ take: "collect", state: { at: "streaming" } });
  expect(play(start, complete, object)).toMatchObject({ take: "apply", state: { version: "11" } });
  expect(play(start, complete, passing, object)).toMatchObject({ take: undefined, state: { version: "10" } });
  for (const next of ["token", undefined])
    expect(play(start, invalid, { type: "page", version: "7", next }).take).toBe("collect");
});

test("a bookmark of a watch says how far it has come, one without a version does not", () => {
  const bookmark = (version: string) =>
    play(start, complete, { type: "bookmark", version, endsInitial: false });
  expect(bookmark("12").effects).toEqual([{ do: "reach", version: "12" }]);
  expect(bookmark("").effects).toEqual([]);
});

test("a server that refuses to stream, or never completes, is asked for pages, then and later", () => {
  for (const event of [invalid, { type: "silent" } as const]) {
    const { effects } = play(start, event);
    expect(effects).toEqual([begin, { do: "open", opening: { as: "list", version: "", page: undefined } }]);
    const later = play(start, event, passing, [5000, { type: "waited" }]);
    expect(later.effects).toContainEqual({
      do: "open",
      opening: { as: "list", version: "", page: undefined },
    });
  }
});

test("a stream that is forbidden is asked for again later: permissions change", () => {
  const forbidden = failure({ is: "refused", message: "403", forGood: false });
  expect(play(start, forbidden).state.at).toBe("listing");
  expect(play(start, forbidden, forbidden, [5000, { type: "waited" }]).state.at).toBe("streaming");
});

test("pages follow each other, and the last one commits and starts the watch from the list's version", () => {
  const first = play(start, invalid, { type: "page", version: "7", next: "token" });
  expect(first.effects).toEqual([{ do: "open", opening: { as: "list", version: "", page: "token" } }]);
  const last = play(
    start,
    invalid,
    { type: "page", version: "7", next: "token" },
    { type: "page", version: "7", next: undefined },
  );
  expect(last.effects).toEqual([
    { do: "commit", version: "7" },
    { do: "open", opening: { as: "watch", version: "7", timeoutSeconds: 300 } },
  ]);
});

test("objects and bookmarks move the version from which a closed watch resumes at once", () => {
  const { effects } = play(
    start,
    complete,
    { type: "object", version: "11" },
    { type: "bookmark", version: "19", endsInitial: false },
    [10_000, { type: "closed" }],
  );
  expect(effects).toEqual([{ do: "open", opening: { as: "watch", version: "19", timeoutSeconds: 300 } }]);
});

test("silence makes it reopen the watch, from the same version", () => {
  expect(play(start, complete, { type: "silent" }).effects).toEqual([
    { do: "open", opening: { as: "watch", version: "10", timeoutSeconds: 300 } },
  ]);
});

test("a watch that ends at once without a word is not opened again without a wait", () => {
  const { state, effects } = play(start, complete, [5000, { type: "closed" }], [5100, { type: "closed" }]);
  expect(effects).toEqual([{ do: "wait", ms: 800 }]);
  expect(state).toMatchObject({ at: "waiting", next: "watch" });
});

test("waits double from 0.8 s to 30 s, and jitter at most doubles them", () => {
  let state = play(start).state;
  const waits: number[] = [];
  for (let round = 0; round < 8; round++) {
    const failed = step(state, passing, { now: 0, chance: 0 });
    for (const effect of failed.effects) if (effect.do === "wait") waits.push(effect.ms);
    state = step(failed.state, { type: "waited" }, { now: 0, chance: 0 }).state;
  }
  expect(waits).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  const jittered = step(play(start).state, passing, { now: 0, chance: 0.5 });
  expect(jittered.effects).toEqual([{ do: "wait", ms: 1200 }]);
});

test("the server's Retry-After is kept to", () => {
  const later = failure({ is: "passing", message: "429", retryAfterMs: 7000 });
  expect(play(start, later).effects).toEqual([{ do: "wait", ms: 7000 }]);
});

test("two healthy minutes wipe out earlier failures, less do not", () => {
  const afterFailures: Entry[] = [start, passing, { type: "waited" }, [1000, complete]];
  const soon = play(...afterFailures, [100_000, passing]);
  expect(soon.effects).toEqual([{ do: "wait", ms: 1600 }]);
  const late = play(...afterFailures, [121_000, passing]);
  expect(late.effects).toEqual([{ do: "wait", ms: 800 }]);
});

test("an expired version leads to a fresh list at once, the next time after a wait", () => {
  const afresh = { do: "open", opening: { as: "stream", version: "", timeoutSeconds: 300 } };
  expect(play(start, complete, expired).effects).toContainEqual(afresh);
  expect(play(start, complete, expired, expired).effects).toEqual([{ do: "wait", ms: 800 }]);
  expect(play(start, complete, expired, complete, [11_000, expired]).effects).toContainEqual(afresh);
});

test("an expired version leads to a fresh list at once even after many failures", () => {
  const afterFailures: Entry[] = [start, complete, passing, { type: "waited" }, passing, { type: "waited" }];
  expect(play(...afterFailures, expired).state.at).toBe("streaming");
});

test("while no server answers it is asked for every few seconds, and what answers then starts with a clean slate", () => {
  const waits: number[] = [];
  let state = play(start, complete).state;
  for (let round = 0; round < 6; round++) {
    const failed = step(state, unreachable, { now: 0, chance: 0 });
    for (const effect of failed.effects) if (effect.do === "wait") waits.push(effect.ms);
    state = step(failed.state, { type: "waited" }, { now: 0, chance: 0 }).state;
  }
  expect(waits).toEqual([400, 800, 1600, 3000, 3000, 3000]);
  expect(state).toMatchObject({ at: "watching", version: "10" });
  expect(step(state, passing, { now: 0, chance: 0 }).effects).toEqual([{ do: "wait", ms: 800 }]);
  const heard = step(state, { type: "object", version: "11" }, { now: 0, chance: 0 });
  expect(step(heard.state, unreachable, { now: 0, chance: 0 }).effects).toEqual([{ do: "wait", ms: 400 }]);
});

test("a list whose continue token expired starts over", () => {
  const { effects } = play(start, invalid, { type: "page", version: "7", next: "token" }, expired);
  expect(effects).toEqual([begin, { do: "open", opening: { as: "list", version: "", page: undefined } }]);
});

test("what is held is not trusted as what an unreliable server lists, until a list is complete", () => {
  const distrusting: Effect = { do: "begin", list: { reusesHeld: false, isConsistent: true } };
  expect(play(start, complete, unreliable).effects).toEqual([distrusting, streamed("")]);
  expect(play(start, complete, unreliable, passing, [5000, { type: "waited" }]).effects).toEqual([
    distrusting,
    streamed(""),
  ]);
  expect(play(start, complete, unreliable, complete, [11_000, expired]).effects).toEqual([
    begin,
    streamed(""),
  ]);
});

test("a watch that was silent from its start is followed by a list, one that had an event on another watch", () => {
  const silent: ReflectorEvent = { type: "silent" };
  expect(play(start, complete, silent).state).toMatchObject({ at: "watching", version: "10" });
  const { state, effects } = play(start, complete, silent, silent);
  expect(state.at).toBe("streaming");
  expect(effects).toEqual([{ do: "begin", list: { reusesHeld: true, isConsistent: false } }, streamed("10")]);
});

test("after a failure a list asks for nothing older than what is held", () => {
  const { effects } = play(start, complete, failure({ is: "broken", message: "500" }), [
    1000,
    { type: "waited" },
  ]);
  expect(effects).toContainEqual({
    do: "open",
    opening: { as: "stream", version: "10", timeoutSeconds: 300 },
  });
});

test("a kind that is missing is cleared and asked for again; a watch that finds it missing lists first", () => {
  expect(play(start, missing).effects).toEqual([{ do: "clear" }, { do: "wait", ms: 800 }]);
  const watched = play(start, complete, missing);
  expect(watched.state.at).toBe("streaming");
  expect(play(start, complete, missing, missing).effects).toEqual([{ do: "clear" }, { do: "wait", ms: 800 }]);
  expect(play(start, missing, [900, { type: "waited" }]).state.at).toBe("streaming");
});

test("a connection that breaks resumes the watch after a wait", () => {
  const { state } = play(start, complete, passing);
  expect(state).toMatchObject({ at: "waiting", next: "watch", version: "10" });
});

test("a stream that ends before it is complete is asked for again", () => {
  expect(play(start, { type: "closed" }).state).toMatchObject({ at: "waiting", next: "list", streams: true });
});
