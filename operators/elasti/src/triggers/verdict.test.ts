import fc from "fast-check";
import { expect, test } from "vitest";
import { combine, judged, type Standing, type Verdict, wishOf } from "./verdict.ts";

const idle: Verdict = { activity: "idle" };
const busy: Verdict = { activity: "busy", why: "work" };
const unknown: Verdict = { activity: "unknown", why: "outage" };
const anyVerdict = fc.constantFrom(idle, busy, unknown);

test("a service is idle if all its triggers say so", () => {
  expect(combine([idle, idle]).activity).toBe("idle");
  expect(combine([idle, unknown, busy]).activity).toBe("busy");
  expect(combine([]).activity).toBe("unknown");
});

test("a service sleeps only after a whole cooldown in which every look found it idle", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyVerdict, fc.integer({ min: 1, max: 20 }))), (looks) => {
      let standing: Standing | undefined;
      let nowMs = 0;
      let quietSince = 0;
      for (const [verdict, passed] of looks) {
        nowMs += passed;
        if (verdict.activity !== "idle" || standing === undefined) quietSince = nowMs;
        standing = judged(standing, verdict, nowMs);
        const wish = wishOf(standing, { cooldownMs: 30, lastWantedMs: 0, nowMs });
        expect(wish === "sleep").toBe(verdict.activity === "idle" && nowMs - quietSince >= 30);
        if (verdict.activity === "unknown") expect(wish).toBe("stay");
      }
    }),
  );
});

test("a wake restarts the cooldown", () => {
  const standing = judged(undefined, idle, 0);
  expect(wishOf(standing, { cooldownMs: 100, lastWantedMs: 950, nowMs: 1_000 })).toBe("stay");
  expect(wishOf(standing, { cooldownMs: 0, lastWantedMs: 1_000, nowMs: 1_000 })).toBe("sleep");
});
