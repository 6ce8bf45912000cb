import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Words that made readers stop, and what to write instead. */
const words: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, "name who: the caller, the client, the leader"],
  [/\b(hear|hears|heard) of\b/, "is called for, gets, learns"],
  [/\b(become|becomes|became) of\b/, "the outcome of, what happens to"],
  [/\b(tell|tells|telling) of\b/, "reports, has"],
  [/\b(go|goes|going|went) by (the|a|an|that|it|its|their)\b/, "uses, follows"],
  [/\bbut for (the|its|a|an|one|those|what)\b/, "except for"],
  [/\b(is|are) led\b/, "is sent, is forwarded"],
  [
    /\b(that|which) is none\b|\bbeyond measure\b|\brightful\b|\bnought\b/,
    "say what is malformed or too large",
  ],
  [/\bof one's own\b/, "own, custom"],
];

/** Where a text has such words: the number of its line, and what to write instead. */
function archaic(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      words.filter(([pattern]) => pattern.test(line)).map(([, instead]) => `${index + 1}: ${instead}`),
    );
}

test("words that make a reader stop are found", () => {
  expect(archaic("// Whoever asks.\n// Read the chapter by the server.\n// What becomes of it.")).toEqual([
    "1: name who: the caller, the client, the leader",
    "3: the outcome of, what happens to",
  ]);
});

test("comments, messages and tests of the packages are in plain words", async () => {
  const found: string[] = [];
  for await (const file of glob("{packages/*/{src,scripts},tests,scripts}/**/*.ts", { cwd: root })) {
    if (file.includes("/generated/") || file.endsWith("words.test.ts")) continue;
    for (const line of archaic(await readFile(join(root, file), "utf8"))) found.push(`${file}:${line}`);
  }
  expect(found).toEqual([]);
});
