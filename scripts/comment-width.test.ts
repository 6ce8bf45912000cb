import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const columns = 100;

const sources = [
  "packages/*/{src,scripts}/**/*.ts",
  "operators/*/*.ts",
  "operators/*/{src,testing,scripts}/**/*.ts",
  "{tests,scripts}/**/*.ts",
  "benchmarks/src/**/*.ts",
];

/**
 * The numbers of the lines that are too wide. Tables, examples and single words cannot be wrapped.
 */
function wideComments(text: string): number[] {
  const found: number[] = [];
  let inBlock = false;
  let inExample = false;
  let inFence = false;
  for (const [index, line] of text.split("\n").entries()) {
    const opens = /^\s*\/\*/.test(line);
    if (opens) inBlock = true;
    if (inBlock && /^\s*\* @/.test(line)) inExample = line.includes("@example");
    if (inBlock && /^\s*\* ```/.test(line)) inFence = !inFence;
    const words = line.replace(/^\s*(\/\*\*?|\*|\/\/) ?/, "");
    const isComment = inBlock || /^\s*\/\/ /.test(line);
    const isTable = words.startsWith("|");
    const isDirective = words.startsWith("@ts-expect-error");
    const canWrap = !inExample && !inFence && !isTable && !isDirective && words.trim().includes(" ");
    if (isComment && canWrap && line.length > columns) found.push(index + 1);
    if (inBlock && line.includes("*/")) {
      inBlock = false;
      inFence = false;
      inExample = false;
    }
  }
  return found;
}

test("wide comments are found, and tables, examples and code are not", () => {
  const wide = "word ".repeat(25).trim();
  const text = [
    `/** ${wide} */`,
    `// ${wide}`,
    "/*",
    ` * ${wide}`,
    " */",
    "/**",
    ` * ${wide}`,
    ` * | ${wide} |`,
    " * ```",
    ` * ${wide}`,
    " * ```",
    " * @example",
    ` * ${wide}`,
    " */",
    `const text = "${wide}";`,
  ].join("\n");
  expect(wideComments(text)).toEqual([1, 2, 4, 7]);
});

test("comments are wrapped at 100 columns", async () => {
  const wide: string[] = [];
  for await (const file of glob(sources, { cwd: root })) {
    if (file.includes("/generated/")) continue;
    const text = await readFile(join(root, file), "utf8");
    wide.push(...wideComments(text).map((line) => `${file}:${line}`));
  }
  expect(wide).toEqual([]);
});
