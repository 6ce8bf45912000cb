import { glob, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const reference = join(import.meta.dirname, "../docs/reference/api");
const pages = (await Array.fromAsync(glob("*.md", { cwd: reference }))).toSorted();
/** Fields that are called and counted as Kubernetes does it. */
const kubernetes = new Set(["gracePeriodSeconds", "retryAfterSeconds", "timeoutSeconds"]);

/** The options in declarations whose names say in which unit they are. */
function optionsWithUnits(text: string): string[] {
  const found = text.matchAll(/^ +readonly (\w+(?:Ms|Millis|Milliseconds|Seconds|Minutes))\?: number/gm);
  return [...found].map(([, name = ""]) => name).filter((name) => !kubernetes.has(name));
}

test("an option in milliseconds is found", () => {
  expect(optionsWithUnits("interface A {\n    readonly waitMs?: number;\n}")).toEqual(["waitMs"]);
});

// Fields of Kubernetes' own kinds are Kubernetes' own.
test.for(pages.filter((page) => basename(page) !== "kinds.md"))(
  "every option that is a length of time takes text such as 30s: %s",
  async (page) => {
    expect(optionsWithUnits(await readFile(join(reference, page), "utf8"))).toEqual([]);
  },
);
