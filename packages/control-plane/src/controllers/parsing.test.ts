import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSchedule } from "../builtin/cron-job/schedule.ts";
import { parseIndexes } from "../builtin/job/indexes.ts";
import type { JsonObject } from "../json.ts";
import { templateHash } from "./template-hash.ts";

test("a text that is no schedule is an Error, and nothing worse; a schedule never goes back in time", () => {
  const piece = fc.constantFrom(
    "*",
    "*/5",
    "1-3",
    "7",
    "0",
    "@daily",
    "@every 5m",
    "L",
    "MON",
    "60",
    "-1",
    "a,b",
    "1/2/3",
    "?",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 7 }).map((parts) => parts.join(" ")),
      ),
      (text) => {
        const start = Date.UTC(2026, 1, 28, 23, 59, 30);
        try {
          const schedule = parseSchedule(text, undefined);
          expect(schedule.next(start) ?? start + 1).toBeGreaterThan(start);
          expect(schedule.last(start, start + 90_000_000) ?? start + 1).toBeGreaterThan(start);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      },
    ),
  );
});

test("an invalid list of indexes is an empty one", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), (text) => {
      expect(parseIndexes(text).every((index) => Number.isInteger(index))).toBe(true);
    }),
  );
});

test("the same template has the same hash, however its keys are ordered", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const template = value as JsonObject;
      const turned = Object.fromEntries(Object.entries(template).reverse());
      expect(templateHash(turned)).toBe(templateHash(template));
      expect(templateHash(template)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    }),
  );
});
