import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Some 50 ms of plain JavaScript. The same requests took up to three times as much in one turn. */
const mostWork = 4_500_000;

test("large requests are worked through with turns of the event loop in between", {
  timeout: 180_000,
}, async () => {
  const program = join(import.meta.dirname, "large-requests.fixture.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { name: string; status: number; work: number });
  expect(answers.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
  expect(answers).toHaveLength(10);
  expect(answers.filter(({ work }) => work > mostWork)).toEqual([]);
  // Were nothing counted, nothing would be too much.
  expect(Math.max(...answers.map(({ work }) => work))).toBeGreaterThan(mostWork / 10);
});
