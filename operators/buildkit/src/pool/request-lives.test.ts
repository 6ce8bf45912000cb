import fc from "fast-check";
import { expect, test } from "vitest";
import { RequestLives } from "./request-lives.ts";

const noon = Date.parse("2026-03-01T12:00:00Z");

function request(waitUntil: number, uid = "1") {
  const at = new Date(waitUntil).toISOString();
  const spec = {
    poolRef: { name: "ci" },
    jobId: "1",
    requestedBy: "a",
    priority: 0,
    requestedAt: at,
    waitUntil: at,
  };
  return { metadata: { namespace: "builds", name: `request-${uid}`, uid }, spec };
}

test("a request that is renewed counts, however far the clock of its replica is behind", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -240_000, max: 240_000 }),
      fc.array(fc.integer({ min: 1_000, max: 14_000 }), { minLength: 1, maxLength: 30 }),
      (skewMs, gaps) => {
        const lives = new RequestLives();
        let monotonic = 5_000;
        let renewedAt = monotonic;
        for (const gapMs of gaps) {
          monotonic += gapMs;
          // Its replica renews it every ten seconds at least; it is looked at in between.
          if (monotonic - renewedAt >= 10_000) renewedAt = monotonic;
          const now = { wall: noon + monotonic, monotonic };
          expect(lives.endOf(request(noon + renewedAt + skewMs + 30_000), now)).toBeGreaterThan(now.wall);
        }
      },
    ),
  );
});

test("one that is not renewed is over at its time, or 30 seconds after it was seen first", () => {
  const lives = new RequestLives();
  const behind = request(noon - 60_000);
  const ahead = request(noon + 60_000, "2");
  expect(lives.endOf(behind, { wall: noon, monotonic: 0 })).toBe(noon + 30_000);
  expect(lives.endOf(behind, { wall: noon + 20_000, monotonic: 20_000 })).toBe(noon + 30_000);
  expect(lives.endOf(ahead, { wall: noon, monotonic: 0 })).toBe(noon + 60_000);
  // However often this one's clock is set.
  expect(lives.endOf(behind, { wall: noon + 3_000_000, monotonic: 29_000 })).toBeLessThan(noon + 3_000_000);
});

test("one whose time came long ago is over at once: clocks are not that far apart", () => {
  const now = { wall: noon, monotonic: 0 };
  expect(new RequestLives().endOf(request(noon - 300_000), now)).toBeLessThanOrEqual(noon);
});

test("one that is to count for years, and that is not renewed, is over after some minutes", () => {
  const lives = new RequestLives();
  const made = request(Date.parse("3000-01-01T00:00:00Z"));
  expect(lives.endOf(made, { wall: noon, monotonic: 0 })).toBe(noon + 330_000);
  expect(lives.endOf(made, { wall: noon + 330_000, monotonic: 330_000 })).toBeLessThanOrEqual(noon + 330_000);
});

test("what is gone is forgotten", () => {
  const lives = new RequestLives();
  const one = request(noon - 60_000);
  lives.endOf(one, { wall: noon, monotonic: 0 });
  lives.keep([]);
  expect(lives.endOf(one, { wall: noon + 20_000, monotonic: 20_000 })).toBe(noon + 50_000);
});
