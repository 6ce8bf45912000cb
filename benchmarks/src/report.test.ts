import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { report, reportOnFrontPage } from "./report.ts";

test("the page of figures has what the last runs measured", async () => {
  expect(await readFile(join(import.meta.dirname, "..", "README.md"), "utf8")).toBe(await report());
});

test("so has the front page", async () => {
  expect(await readFile(join(import.meta.dirname, "..", "..", "README.md"), "utf8")).toBe(
    await reportOnFrontPage(),
  );
});
