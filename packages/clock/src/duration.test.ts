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
    expectTypeOf<"30s">().toExtend<Duration>();
    expectTypeOf<"1h30m">().toExtend<Duration>();
    expectTypeOf<"1h30m10s">().toExtend<Duration>();
    expectTypeOf<"30">().not.toExtend<Duration>();
    expectTypeOf<"half an hour">().not.toExtend<Duration>();
  });
});
