import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/guides/compiler.md", root), "utf8");
const refused = readFileSync(new URL("tests/face/refused.ts", root), "utf8");

/** What the compiler says of wrong code: a test of those files compares it with the compiler. */
const said = [...refused.matchAll(/@ts-expect-error (.+)/g)].map(([, text = ""]) => text);

/** What the first column quotes. */
const quoted = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split(/(?<!\\) \| /)[0] ?? "").matchAll(/`([^`]+)`/g)])
  .map(([, text = ""]) => text.replaceAll("\\|", "|"));

test("every message of the page is one that the compiler gives for wrong code", () => {
  expect(quoted.length).toBeGreaterThan(12);
  expect(quoted.filter((part) => !said.some((text) => text.includes(part)))).toEqual([]);
});
