import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Words that made readers stop, and what to write instead. */
const words: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, "name who: the caller, the client, the leader"],
  [/\b(hear|hears|heard) of\b/i, "is called for, gets, learns"],
  [/\b(become|becomes|became) of\b/i, "the outcome of, what happens to"],
  [/\b(tell|tells|telling) of\b/i, "reports, has"],
  [/\b(go|goes|going|went) by (the|a|an|that|it|its|their)\b/, "uses, follows"],
  [/\bbut for (the|its|a|an|one|those|what)\b/, "except for"],
  [/\b(is|are|was|were|been)( still)? led\b/, "is sent, is forwarded"],
  [
    /\b(that|which) is none\b|\bbeyond measure\b|\brightful\b|\bnought\b/,
    "say what is malformed or too large",
  ],
  [/\bof one's own\b/, "own, custom"],
  [/\b(is|are) said so\b/, "is reported"],
  [/\b(is|are|was|were|been) told of\b(?! each completed action)/i, "is reported, is notified of"],
  [/\banew\b/i, "again, over; recreated, restarted, reopened"],
  [
    /(?<!\b(address|port|name) (that )?(was|is|are) )\b(are|be|is|was) taken for(?! (granted|%))/,
    "is treated as, is mistaken for",
  ],
  [/\b(let|lets|letting) go of\b/i, "releases, drops, refuses"],
  [/\bon its way out\b/i, "is being deleted, is draining"],
  [/\bin so many words\b|\bin good order\b|\bon its own account\b/i, "explicitly; cleanly; on its own"],
  [/\b(come|comes|came) of it\b/i, "the outcome, the result"],
  [/\ball else\b/i, "everything else"],
  [/\bnot to be had\b|\bsuch a one\b|\bis none the better\b/, "is unavailable; name the thing"],
];

/** The same for everything but the operators and the examples, where such words are left. */
const wordsOfPackages: typeof words = [
  [/\btold as that\b|\bis told once\b|\btold apart\b/i, "reported as such; logged once; distinguished"],
  [/\bby the book\b/i, "as the specification requires"],
  [/\ball the same\b/i, "still, anyway"],
  [/\bfor ever\b/i, "indefinitely"],
  [/\b(holds|held) up\b/i, "delays, blocks"],
  [/\blooked after\b/i, "maintained"],
];

/** The text of a line that goes on with the comment before it; empty for any other line. */
function continued(line: string | undefined): string {
  return /^\s*(?:\*|\/\/) (?![-@])(.*)$/.exec(line ?? "")?.[1] ?? "";
}

/** Where a text has such words: the number of the line they begin on, and what to write instead. */
function archaic(text: string, among = words): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const next = continued(lines[index + 1]);
    const found = among.filter(
      ([pattern]) => pattern.test(line) || (pattern.test(`${line} ${next}`) && !pattern.test(next)),
    );
    return found.map(([, instead]) => `${index + 1}: ${instead}`);
  });
}

test("words that make a reader stop are found", () => {
  expect(archaic("// Whoever asks.\n// Read the chapter by the server.\n// What becomes of it.")).toEqual([
    "1: name who: the caller, the client, the leader",
    "3: the outcome of, what happens to",
  ]);
  expect(archaic("/**\n * Decides what becomes\n * of a request.\n */")).toEqual([
    "2: the outcome of, what happens to",
  ]);
});

const sources = [
  "packages/*/{src,scripts}/**/*.ts",
  "operators/*/*.{ts,md}",
  "operators/*/{src,testing,scripts}/**/*.{ts,md}",
  "docs/examples/**/*.ts",
  "{.,docs,docs/guides,docs/reference,packages/*}/*.md",
  "docs/design/promises.md",
  "{tests,scripts}/**/*.ts",
  "benchmarks/src/**/*.ts",
];

test("comments, messages, tests and manuals are in plain words", async () => {
  const found: string[] = [];
  for await (const file of glob(sources, { cwd: root })) {
    if (file.includes("/generated/") || file.endsWith("words.test.ts")) continue;
    const among = /^(operators|docs.examples)/.test(file) ? words : [...words, ...wordsOfPackages];
    for (const line of archaic(await readFile(join(root, file), "utf8"), among))
      found.push(`${file}:${line}`);
  }
  expect(found).toEqual([]);
});
