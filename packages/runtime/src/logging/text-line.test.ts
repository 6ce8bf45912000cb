import { expect, test } from "vitest";
import { textLine } from "./text-line.ts";

test("a record is one line for people, with all that it has", () => {
  const record = {
    level: "warn",
    time: "2026-11-18T02:00:00.000Z",
    pool: "builds/ci",
    error: "no worker",
    count: 2,
    msg: "it waits",
  };
  expect(textLine(`${JSON.stringify(record)}\n`)).toBe(
    '2026-11-18T02:00:00.000Z WARN  it waits  pool=builds/ci  error="no worker"  count=2\n',
  );
});

test("what is no record stays as it is", () => {
  for (const line of ["hello\n", "{}\n", "null\n", '{"level"\n']) expect(textLine(line)).toBe(line);
});
