import { expect, test } from "vitest";
import { healthChecks, healthReport } from "./health.ts";

test("every check passes, and the last line reports it", () => {
  const lines = healthReport("readyz").trimEnd().split("\n");
  expect(lines.at(-1)).toBe("readyz check passed");
  expect(lines.slice(0, -1)).toEqual(healthChecks("readyz").map((check) => `[+]${check} ok`));
  expect(lines).toContain("[+]shutdown ok");
});

test("there are no checks behind other paths", () => {
  expect(healthChecks("version")).toEqual([]);
  expect(healthChecks("constructor")).toEqual([]);
});
