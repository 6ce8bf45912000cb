import { type Clock, ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { step, WakeCalls, type WakeEvent, type WakeState } from "./wake.ts";

const quiet: WakeState = { at: "quiet" };

/**
 * Steps through events, each with the time at which it happens.
 *
 * @returns the states, and how many calls were made.
 */
function run(events: readonly (readonly [number, WakeEvent])[]) {
  let state = quiet;
  let calls = 0;
  for (const [now, event] of events) {
    const next = step(state, event, now);
    if (next !== state && next.at === "calling") calls += 1;
    state = next;
  }
  return { state, calls };
}

describe("a wake", () => {
  test("is asked for once, however many requests follow, until there are twice as many", () => {
    const called = [
      [0, { type: "demand", waiting: 1 }],
      [1, { type: "accepted" }],
    ] as const;
    expect(run([...called, [2, { type: "demand", waiting: 1 }]]).calls).toBe(1);
    expect(run([...called, [2, { type: "demand", waiting: 2 }]]).calls).toBe(2);
  });

  test("is asked for again while requests wait, in case it was forgotten, and not when none does", () => {
    const called = [
      [0, { type: "demand", waiting: 4 }],
      [1, { type: "accepted" }],
    ] as const;
    expect(run([...called, [5_001, { type: "due", waiting: 4 }]])).toMatchObject({ calls: 2 });
    expect(run([...called, [5_001, { type: "due", waiting: 0 }]])).toMatchObject({ calls: 1, state: quiet });
  });

  test("that failed is asked for again within a second", () => {
    let state: WakeState = { at: "calling", waiting: 1, attempt: 1 };
    const delays: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const failed = step(state, { type: "rejected" }, 0);
      if (failed.at !== "failed") throw new Error(failed.at);
      delays.push(failed.until);
      state = step(failed, { type: "due", waiting: 1 }, failed.until);
    }
    expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  test("is asked for at once after the target has served in between", () => {
    const { calls } = run([
      [0, { type: "demand", waiting: 1 }],
      [1, { type: "accepted" }],
      [2, { type: "changed" }],
      [3, { type: "demand", waiting: 1 }],
    ]);
    expect(calls).toBe(2);
  });

  test("is never given up while requests wait: a call is under way, or one is due within 5 s", () => {
    const event: fc.Arbitrary<WakeEvent> = fc.oneof(
      fc.integer({ min: 1, max: 100 }).map((waiting) => ({ type: "demand" as const, waiting })),
      fc.constantFrom<WakeEvent>({ type: "accepted" }, { type: "rejected" }, { type: "due", waiting: 1 }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3_000), event)), (events) => {
        let now = 0;
        let state = step(quiet, { type: "demand", waiting: 1 }, now);
        for (const [delay, each] of events) {
          now += delay;
          state = step(state, each, now);
          expect(state.at).not.toBe("quiet");
          if (state.at !== "calling" && state.at !== "quiet")
            expect(state.until - now).toBeLessThanOrEqual(5_000);
        }
      }),
    );
  });
});

test("a call that failed is repeated, also by a timer that fires a little too soon", async () => {
  const clock = new ManualClock();
  const hasty: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule: (delayMs, task) => clock.schedule(Math.max(1, delayMs - 1), task),
  };
  let calls = 0;
  const wakes = new WakeCalls(
    { namespace: "shop", service: "web" },
    {
      waker: {
        wake: async () => {
          calls += 1;
          if (calls < 4) throw new Error("connection refused");
        },
      },
      clock: hasty,
      waiting: () => 1,
      observer: { called: () => undefined },
    },
  );
  wakes.demand();
  await clock.advance(1_000);
  expect(calls).toBe(4);
  // The operator is called again and again, in case it has forgotten.
  await clock.advance(10_100);
  expect(calls).toBe(6);
});
