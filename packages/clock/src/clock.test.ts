import fc from "fast-check";
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

test("time is moved by any duration, and neither back nor by what is none", async () => {
  const clock = new ManualClock(0);
  await clock.advance("1m30s");
  expect(clock.now()).toBe(90_000);
  for (const nonsense of [-1, Number.NaN, "1 minute" as "1m"])
    await expect(clock.advance(nonsense)).rejects.toThrow(RangeError);
  expect(clock.now()).toBe(90_000);
});

test("a timer set by a timer fires within the same advance, at its own time", async () => {
  const clock = new ManualClock();
  const at: number[] = [];
  clock.schedule(5, () => clock.schedule(5, () => at.push(clock.monotonic())));
  await clock.advance(100);
  expect(at).toEqual([10]);
});

test("heartbeats stand still while they rest, and go on from there, in their order", async () => {
  const clock = new ManualClock();
  const { heartbeats } = clock;
  const fired: string[] = [];
  const note = (what: string) => () => fired.push(`${what} at ${clock.monotonic()}`);
  heartbeats.schedule(20, note("beat"));
  heartbeats.schedule(30, note("later beat"));
  clock.schedule(50, note("work"));
  await clock.advance(10);
  clock.restHeartbeats(1_000);
  await clock.advance(100);
  expect(heartbeats.monotonic()).toBe(10);
  expect(heartbeats.now()).toBe(clock.now() - 100);
  heartbeats.schedule(5, note("beat set meanwhile"));
  expect(clock.nextHeartbeatAt).toBe(clock.now() + 900 + 5);
  await clock.advance(1_000);
  expect(fired).toEqual(["work at 50", "beat set meanwhile at 1015", "beat at 1020", "later beat at 1030"]);
  expect(heartbeats.monotonic()).toBe(110);
});

test("heartbeats that are woken go on at once, and their time never goes back", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("rest" as const), ms: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ do: fc.constant("wake" as const) }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 30 }) }),
    fc.record({ do: fc.constant("schedule" as const), ms: fc.integer({ min: 0, max: 40 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 100 }), async (steps) => {
      const clock = new ManualClock(0);
      const { heartbeats } = clock;
      let last = 0;
      for (const todo of steps) {
        if (todo.do === "rest") clock.restHeartbeats(todo.ms);
        else if (todo.do === "wake") clock.wakeHeartbeats();
        else if (todo.do === "advance") await clock.advance(todo.ms);
        else {
          const due = heartbeats.monotonic() + todo.ms;
          heartbeats.schedule(todo.ms, () => expect(heartbeats.monotonic()).toBe(due));
        }
        expect(heartbeats.monotonic()).toBeGreaterThanOrEqual(last);
        last = heartbeats.monotonic();
      }
      clock.wakeHeartbeats();
      expect(heartbeats.monotonic()).toBe(last);
    }),
  );
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

test("however timers are set, cancelled and fired, they fire in order and at their time, and none twice", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("schedule" as const), ms: fc.integer({ min: -5, max: 50 }) }),
    fc.record({ do: fc.constant("cancel" as const), which: fc.nat(200) }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 30 }) }),
    fc.record({ do: fc.constant("fire" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400, size: "max" }), async (steps) => {
      const clock = new ManualClock(0);
      const waiting = new Map<number, { at: number; cancel: () => void }>();
      const next = () => [...waiting].toSorted(([a, { at }], [b, other]) => at - other.at || a - b)[0];
      const expectFired = (id: number) => {
        expect(next()?.[0]).toBe(id);
        expect(clock.now()).toBe(Math.max(waiting.get(id)?.at ?? 0, clock.now()));
        waiting.delete(id);
      };
      for (const [id, todo] of steps.entries()) {
        if (todo.do === "schedule") {
          const cancel = clock.schedule(todo.ms, () => expectFired(id));
          waiting.set(id, { at: clock.now() + Math.max(0, todo.ms), cancel });
        } else if (todo.do === "cancel") {
          const [chosen] = [...waiting].slice(todo.which % Math.max(1, waiting.size));
          chosen?.[1].cancel();
          if (chosen) waiting.delete(chosen[0]);
        } else if (todo.do === "fire") {
          const isWaiting = waiting.size > 0;
          expect(clock.fireNext()).toBe(isWaiting);
        } else {
          await clock.advance(todo.ms);
          for (const { at } of waiting.values()) expect(at).toBeGreaterThan(clock.now());
        }
        expect(clock.pending).toBe(waiting.size);
        expect(clock.nextAt).toBe(next()?.[1].at);
      }
    }),
    { numRuns: 50 },
  );
});

test("a timer that has fired cannot be cancelled any more", async () => {
  const clock = new ManualClock();
  const cancel = clock.schedule(1, () => undefined);
  clock.schedule(2, () => undefined);
  await clock.advance(1);
  cancel();
  expect(clock.pending).toBe(1);
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

test("the machine's clock is never early, by its own count", async () => {
  const early: number[] = [];
  const once = (delayMs: number) =>
    new Promise<void>((resolve) => {
      const dueAt = systemClock.monotonic() + delayMs;
      systemClock.schedule(delayMs, () => {
        const leftMs = dueAt - systemClock.monotonic();
        if (leftMs > 0) early.push(leftMs);
        resolve();
      });
    });
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 20 }, (_, index) => once(5 + index / 7)));
  expect(early).toEqual([]);
});

test("sleep takes text such as 30s", async () => {
  const clock = new ManualClock();
  let isAwake = false;
  const asleep = sleep(clock, "30s").then(() => {
    isAwake = true;
  });
  await clock.advance(29_999);
  expect(isAwake).toBe(false);
  await clock.advance(1);
  await asleep;
  expect(isAwake).toBe(true);
});
