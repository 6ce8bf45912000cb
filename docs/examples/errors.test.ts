import { readdirSync, readFileSync } from "node:fs";
import { errorCodes } from "@windlass/client";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/reference/errors.md", root), "utf8");

/** The table rows of one section, cell by cell. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.slice(2, -2).split(" | "));
}

/** What a pattern's group matches in the sources of a package, tests left out. */
function found(packageName: string, pattern: RegExp): readonly string[] {
  const source = new URL(`packages/${packageName}/src/`, root);
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(new URL(file, source), "utf8").matchAll(pattern)])
    .map((match) => match.slice(1).join(" "));
}

const named = (names: readonly string[]) => [...new Set(names)].toSorted();
const bare = (cell = "") => cell.replaceAll("`", "");

test("the client's errors are on the page in the words of its own table", () => {
  const rows = ["Answers of the API server", "No answer", "Before any request"].flatMap(rowsOf);
  expect(Object.fromEntries(rows.map(([code, text]) => [bare(code), text]))).toEqual(errorCodes);
});

test("the runtime's coded errors are on the page with their classes", () => {
  const coded = found(
    "runtime",
    /class (\w+) extends Error \{\s+override readonly name = "\w+";\s+readonly code = "(\w+)"/g,
  );
  expect(named(rowsOf("The runtime").map(([code, name]) => `${bare(name)} ${bare(code)}`))).toEqual(
    named(coded),
  );
  expect(found("runtime", /readonly code = "(\w+)"/g)).toHaveLength(coded.length);
});

test("the reasons that the runtime itself gives failed reconciles are on the page", () => {
  const reasons = [
    ...found("runtime", /new ChildError\(\s*"(\w+)"/g),
    ...found("runtime", /super\(\s*"(Reconcile\w+)"/g),
    ...found("runtime", /defaultReason = "(\w+)"/g),
  ];
  expect(named(rowsOf("Reasons of failed reconciles").map(([reason]) => bare(reason)))).toEqual(
    named(reasons),
  );
});

test("the errors of certificates are on the page as their package lists them", () => {
  const listed = found("certificates", /^ \* \| (`[A-Z_]+` \| .*) \|$/gm);
  expect(rowsOf("Certificates").map((row) => row.join(" | "))).toEqual(listed);
  expect(named(listed.map((row) => bare(row.split(" ")[0])))).toEqual(
    named(found("certificates", /^ {2}\| "([A-Z_]+)"/gm)),
  );
});

test("the embedded control plane's own reasons are on the page", () => {
  const reasons = found("control-plane", /reason: "(Windlass\w+)"/g);
  expect(rowsOf("The embedded control plane").map(([reason]) => bare(reason))).toEqual(named(reasons));
});

test("the errors of data files are on the page as the control plane lists them", () => {
  const listed = found("control-plane", /^ \* \| (`[A-Z_]+` \| .*) \|$/gm);
  expect(rowsOf("The data file of the embedded control plane").map((row) => row.join(" | "))).toEqual(listed);
  expect(named(listed.map((row) => bare(row.split(" ")[0])))).toEqual(
    named(found("control-plane", /^ {2}\| "(DATA_FILE_[A-Z_]+)"/gm)),
  );
});
