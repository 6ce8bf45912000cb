import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { apiReference } from "../../scripts/packaging/api-reference.ts";
import { sourcePackages } from "../../scripts/packaging/source-packages.ts";

const folder = new URL("../../docs/reference/api/", import.meta.url);
const pages = [...(await apiReference(await sourcePackages()))];

/** `npm run api-reference` writes the pages. */
test.for(pages)("the reference is what the comments of the sources say: %s", async ([name, text]) => {
  await expect(text).toMatchFileSnapshot(fileURLToPath(new URL(name, folder)));
});

test("everything that is exported says what it is for", () => {
  const silent = pages.flatMap(([name, text]) =>
    [...text.matchAll(/^### (\S+)\n\nA (?:function|class)\.$/gm)].map(([, what]) => `${name}: ${what}`),
  );
  expect(silent).toEqual([]);
});
