import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/guides/troubleshooting.md", root), "utf8");

/** All that the client and the runtime can say, with what they fill in left open. */
const said = ["client", "runtime"]
  .flatMap((name) => {
    const source = new URL(`packages/${name}/src/`, root);
    return readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => readFileSync(new URL(file, source), "utf8"));
  })
  .join("\n")
  .replaceAll(/\$\{[^{}]*\}/g, "…");

/** Put together from more than one text, or the engine's own words. */
const composed = [
  "cannot list",
  "cannot watch",
  "not valid YAML at line",
  "for health is in use",
  "Cannot assign",
];

/** The lines that the first column quotes, cut where something is filled in. */
const quoted = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)])
  .flatMap(([, text = ""]) => text.split("…"))
  .map((part) => part.replaceAll(/^["\s:.,]+|["\s:.,]+$/g, ""))
  .filter((part) => part.length > 3 && !composed.some((start) => part.startsWith(start)));

test("every line of the page is one that the program can write", () => {
  expect(quoted.length).toBeGreaterThan(30);
  expect(quoted.filter((part) => !said.includes(part))).toEqual([]);
});
