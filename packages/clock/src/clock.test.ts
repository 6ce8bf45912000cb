import { expect, onTestFinished, test, vi } from "vitest";
import { fasterClock, ManualClock, seededRandom, sleep, systemClock, systemRandom, uuid } from "./index.ts";

test("timers fire in due order, and in the order of their making where that is equal", async () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  clock.schedule(20, () => fired.push("late"));
  clock.schedule(10, () => fired.push("first"));
  clock.schedule(10, () => fired.push("second"));
  await clock.advance(10);
  expect(fired).toEqual(["first", "second"]);
  await clock.advance(10);
  expect(fired).toEqual(["first", "second", "late"]);
  expect(clock.monotonic()).toBe(20);
});

test("a timer set by a timer fires within the same advance, at its own time", async () => {
  const clock = new ManualClock();
  const at: number[] = [];
  clock.schedule(5, () => clock.schedule(5, () => at.push(clock.monotonic())));
  await clock.advance(100);
  expect(at).toEqual([10]);
});

test("a cancelled timer never fires", async () => {
  const clock = new ManualClock();
  let fired = false;
  const cancel = clock.schedule(1, () => {
    fired = true;
  });
  cancel();
  await clock.advance(10);
  expect(fired).toBe(false);
  expect(clock.pending).toBe(0);
});

test("sleep ends with the signal's reason when aborted, and leaves no timer", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = sleep(clock, 1_000, controller.signal);
  controller.abort(new Error("enough"));
  await expect(sleeping).rejects.toThrow("enough");
  expect(clock.pending).toBe(0);
});

test("the same seed gives the same sequence, another seed another", () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return [random.next(), random.next(), uuid(random)];
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

test("uuids are version 4, variant 1", () => {
  for (const random of [systemRandom, seededRandom(7)]) {
    expect(uuid(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test("the machine's clock waits for months where that is asked for, though no timer of Node's does", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const day = 86_400_000;
  let fired = 0;
  systemClock.schedule(60 * day, () => fired++);
  const cancel = systemClock.schedule(60 * day, () => fired++);
  vi.advanceTimersByTime(59 * day);
  expect(fired).toBe(0);
  cancel();
  vi.advanceTimersByTime(2 * day);
  expect(fired).toBe(1);
});

test("a faster clock runs its factor ahead, and what it schedules comes that much sooner", async () => {
  const slow = new ManualClock(1_000_000);
  const fast = fasterClock(60, slow);
  const started = { now: fast.now(), monotonic: fast.monotonic() };
  expect(started.now).toBe(1_000_000);
  const fired: number[] = [];
  fast.schedule(60_000, () => fired.push(fast.monotonic() - started.monotonic));
  const cancel = fast.schedule(120_000, () => fired.push(-1));
  await slow.advance(999);
  expect(fired).toEqual([]);
  await slow.advance(1);
  expect(fired).toEqual([60_000]);
  expect(fast.now() - started.now).toBe(60_000);
  cancel();
  await slow.advance(10_000);
  expect(fired).toHaveLength(1);
});

test("a clock cannot stand still or go back by its factor", () => {
  for (const factor of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => fasterClock(factor)).toThrow(RangeError);
});
