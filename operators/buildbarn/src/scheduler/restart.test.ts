import { expect, test } from "vitest";
import { type Answer, type Restart, type RestartSeen, step, taskOf } from "./restart.ts";

const seen = (own: Partial<RestartSeen> = {}): RestartSeen => ({
  isDue: true,
  serving: "a",
  isUp: true,
  isStopped: false,
  now: 1_000,
  drainMs: 600_000,
  silentMs: 15_000,
  ...own,
});
const draining: Restart = { serving: "a", since: 1_000 };
const done = (executing: number): Answer => ({ is: "done", executing });
const silent: Answer = { is: "silent", why: "no route" };

test("a restart is stored before workers are drained", () => {
  expect(taskOf(undefined, seen())).toBeUndefined();
  expect(step(undefined, undefined, seen())).toEqual({ state: draining, mayRestart: false });
  expect(taskOf(draining, seen())).toBe("drain");
});

test("it waits for running actions, and no longer than it may", () => {
  expect(step(draining, done(2), seen({ now: 600_999 }))).toEqual({ state: draining, mayRestart: false });
  expect(step(draining, done(0), seen({ now: 5_000 }))).toEqual({ state: draining, mayRestart: true });
  expect(step(draining, done(2), seen({ now: 601_000 }))).toEqual({ state: draining, mayRestart: true });
});

test("a scheduler that does not answer is waited for a while, from when it fell silent on", () => {
  const late = { ...draining, silentSince: 100_000 };
  expect(step(draining, silent, seen({ now: 100_000 }))).toEqual({ state: late, mayRestart: false });
  expect(step(late, silent, seen({ now: 114_999 })).mayRestart).toBe(false);
  expect(step(late, silent, seen({ now: 115_000 })).mayRestart).toBe(true);
  expect(step(late, done(1), seen({ now: 115_000 }))).toEqual({ state: draining, mayRestart: false });
});

test("workers get actions again once the new scheduler is up, or the change was taken back", () => {
  expect(taskOf(draining, seen({ isDue: false, isUp: false }))).toBeUndefined();
  expect(step(draining, undefined, seen({ isDue: false, isUp: false }))).toEqual({
    state: draining,
    mayRestart: true,
  });
  expect(taskOf(draining, seen({ isDue: false }))).toBe("undrain");
  expect(step(draining, silent, seen({ isDue: false }))).toEqual({ state: draining, mayRestart: true });
  expect(step(draining, done(0), seen({ isDue: false }))).toEqual({ state: undefined, mayRestart: true });
});

test("another change after the restart has its own time", () => {
  const after = seen({ serving: "b", now: 700_000 });
  expect(taskOf(draining, after)).toBeUndefined();
  expect(step(draining, undefined, after)).toEqual({
    state: { serving: "b", since: 700_000 },
    mayRestart: false,
  });
});

test("a scheduler that is to have no pod waits for nothing", () => {
  const stopped = seen({ isStopped: true });
  expect(taskOf(draining, stopped)).toBeUndefined();
  expect(step(draining, undefined, stopped)).toEqual({ state: undefined, mayRestart: true });
});
