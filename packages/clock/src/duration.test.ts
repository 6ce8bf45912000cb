import { describe, expect, expectTypeOf, test } from "vitest";
import { type Duration, milliseconds } from "./duration.ts";

describe("a duration", () => {
  test.for<[Duration, number]>([
    [0, 0],
    [250, 250],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    ["0s", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1.5h", 5_400_000],
    ["1h30m", 5_400_000],
    ["1h30m10s", 5_410_000],
    ["1500us", 1.5],
    ["1500µs", 1.5],
    ["2000000ns", 2],
    ["2d", 172_800_000],
  ])("%j is %d ms", ([duration, expected]) => {
    expect(milliseconds(duration, "x")).toBe(expected);
  });

  test.for([-1, Number.NaN, "", "30", "s", "-5s", "5 s", "5x", "5s ", "1e3s", "s5", null, {}])(
    "%j is refused, and the option is named",
    (wrong) => {
      expect(() => milliseconds(wrong as string, "controller webapp: timeout")).toThrow(
        `controller webapp: timeout (${typeof wrong === "number" ? wrong : JSON.stringify(wrong)}) must be a number of milliseconds, 0 or more, or text such as "30s"`,
      );
    },
  );

  test("is checked by the compiler", () => {
    type Good =
      | "0s"
      | "30s"
      | "100s"
      | "250ms"
      | "1500us"
      | "1500µs"
      | "2000000ns"
      | "2d"
      | "10h"
      | "60m"
      | "0.5s"
      | "1.5h"
      | "1.05s"
      | "1.005s"
      | "1h30m"
      | "1h30m10s"
      | "2m3.5s"
      | "1h0m0s"
      | "1s500ms"
      | "1d2h"
      | "1d2h3m"
      | "1d2h3m4s";
    expectTypeOf<Good>().toExtend<Duration>();
    type Bad =
      | ""
      | "30"
      | "s"
      | "half an hour"
      | "5x"
      | "5 s"
      | "5 m"
      | "5s "
      | " 5s"
      | "1h -5m"
      | "1e3s"
      | "1.5e3s"
      | "5.m"
      | "5.s"
      | ".5s"
      | "1..5s"
      | "1.5 s"
      | "1_000s"
      | "s5"
      | "+5s";
    expectTypeOf<Extract<Bad, Duration>>().toEqualTypeOf<never>();
    expectTypeOf<`${number}s`>().not.toExtend<Duration>();
  });

  test("that the parser refuses compiles only with a sign, or in hexadecimal", () => {
    // TypeScript has no type for a whole number without these.
    const wrong = ["-5s", "0x10s", "0b1s", "1h-5m", "1h0x5m", "1.-5s"] as const;
    expectTypeOf(wrong).toExtend<readonly Duration[]>();
    for (const text of wrong)
      expect(() => milliseconds(text, "x")).toThrow("must be a number of milliseconds");
  });

  test("that does not compile may be one of Go's grammar, which users write and the parser takes", () => {
    const rare = ["30m1h", "007s", "1.5h30m", "1.0005s"] as const;
    expectTypeOf<Extract<(typeof rare)[number], Duration>>().toEqualTypeOf<never>();
    expect(rare.map((text) => milliseconds(text, "x"))).toEqual([5_400_000, 7_000, 7_200_000, 1_000.5]);
  });
});
