import fc from "fast-check";
import { expect, test } from "vitest";
import { warningHeaders } from "./warnings.ts";

test("a text is sent once, quoted, and not at all if no header can hold it", () => {
  expect(warningHeaders(['say "a\\b"', "", "twice", "twice", "bell\u0007"])).toEqual([
    '299 - "say \\"a\\\\b\\""',
    '299 - "twice"',
  ]);
});

test("too much to say is cut: every text to 256 characters, until there is no room left", () => {
  const texts = Array.from({ length: 30 }, (_, index) => `${index} ${"x".repeat(300)}`);
  const told = warningHeaders(texts);
  expect(told).toHaveLength(16);
  expect(told.every((header) => header.length === '299 - ""'.length + 256)).toBe(true);
  expect(warningHeaders(texts.slice(0, 13))).toEqual(texts.slice(0, 13).map((text) => `299 - "${text}"`));
});

test("however much there is to say, no answer carries more than a little over the limit", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 600, unit: "grapheme" })), (texts) => {
      const total = warningHeaders(texts).reduce((sum, header) => sum + Array.from(header).length, 0);
      expect(total).toBeLessThan(3 * 4_096);
    }),
  );
});
