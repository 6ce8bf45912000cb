import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/**
 * Sources whose exports have doc comments. What the control plane exports is used within it, except
 * for what its index passes on, which the reference of the API shows.
 */
const sources = ["packages/*/src/**/*.ts", "operators/*/src/**/*.ts"];
const isHeld = (file: string) =>
  !/\.(test|fixture)\.ts$|\/generated\//.test(file) && !file.startsWith("packages/control-plane/");

const declaration =
  /^export (?:async )?(?:abstract )?(?:function\*?|class|interface|type|const|let) +([\w$]+)/;

/**
 * The names that a source exports without a comment. An overload, or the type of a value, needs no
 * second one.
 */
function undocumented(text: string): string[] {
  const lines = text.split("\n");
  const documented = new Set<string>();
  const names: string[] = [];
  for (const [index, line] of lines.entries()) {
    const [, name] = declaration.exec(line) ?? [];
    if (name === undefined) continue;
    if (/\*\/\s*$|^\s*\/\//.test(lines[index - 1] ?? "")) documented.add(name);
    else if (!documented.has(name)) names.push(name);
  }
  return names;
}

test("exports without a comment are found", () => {
  const text = "/** A. */\nexport const a = 1;\nexport type a = 1;\n\nexport function b(): void {}\n";
  expect(undocumented(text)).toEqual(["b"]);
});

test("every export of packages and operators has a doc comment", async () => {
  const found: string[] = [];
  for await (const file of glob(sources, { cwd: root })) {
    if (!isHeld(file)) continue;
    const text = await readFile(join(root, file), "utf8");
    for (const name of undocumented(text)) found.push(`${file}: ${name}`);
  }
  expect(found).toEqual([]);
});
