import { expect, test } from "vitest";
import { firstDocument } from "./first-document.ts";

test.for([
  ["a: b\n---\nc: d\n", "a: b\n"],
  ["---\na: b\n---\n[", "---\na: b\n"],
  ["---\n---\na: b\n", "---\n"],
  ["a: b\n...\n\t@", "a: b\n"],
  ["# c\n\n---\na: b\n", "# c\n\n---\na: b\n"],
  ["%YAML 1.1\n---\na: b\n--- x\n", "%YAML 1.1\n---\na: b\n"],
  ["a: |\n  x\n--- |\n y\n", "a: |\n  x\n"],
  ["--- a\n---\tb", "--- a\n"],
  ["a: b\r\n---\r\nc", "a: b\r\n"],
  ["a: b\n---", "a: b\n"],
  ["...\na: b\n---\n", "...\na: b\n"],
  // No markers: they do not stand alone at the beginning of a line.
  ["a: |\n  ---\n  x\n----\n---x\n", "a: |\n  ---\n  x\n----\n---x\n"],
  ["", ""],
])("of %j it is %j", ([stream = "", document]) => {
  expect(firstDocument(stream)).toBe(document);
});
