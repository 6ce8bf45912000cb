import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

const root = import.meta.dirname;

/** A regular expression of the sources. */
interface Own {
  readonly place: string;
  readonly regexp: RegExp;
}

function ownPatterns(): Own[] {
  return globSync("**/*.ts", { cwd: root })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => {
      const found: Own[] = [];
      collect(parseAst(readFileSync(join(root, file), "utf8"), { lang: "ts" }), file, found);
      return found;
    });
}

function collect(node: unknown, file: string, found: Own[]): void {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node) {
    const { pattern, flags } = node.regex as { pattern: string; flags: string };
    found.push({ place: `${file}: /${pattern}/${flags}`, regexp: new RegExp(pattern, flags) });
  }
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const item of value) collect(item, file, found);
    else collect(value, file, found);
  }
}

/** What a pattern may well repeat. */
const common = ["a", "Z", "0", " ", ".", "-", "/", '"', "\\", "*", "é", "1.", "a.", "1s", "1 ", "x\\"];

/**
 * Texts that take long if any do: something the pattern begins with, a long repetition, and an end
 * that does not fit.
 */
function* attacks({ source }: RegExp, length: number): Generator<string> {
  const plain = source.replaceAll(/\\[a-zA-Z]/g, "");
  const [word = ""] = plain.match(/[\w:.,/%-]+/) ?? [];
  const own = [...new Set(plain)].filter((character) => /[^\w\s]/.test(character));
  for (const begin of new Set(["", word, `${word}(`, '"'])) {
    for (const piece of new Set([...common, ...own])) {
      yield `${begin}${piece.repeat(length / piece.length)}\u0000x`;
    }
  }
}

/** The CPU time of a match, in microseconds. */
function cpuTime(regexp: RegExp, text: string): number {
  const before = process.threadCpuUsage();
  // As `replaceAll` and `matchAll` do it.
  if (regexp.global) text.replaceAll(regexp, "");
  else regexp.exec(text);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** The first text that takes a pattern long, from short ones up: some would not end. */
function slowText(regexp: RegExp): string | undefined {
  for (const length of [30, 1_000, 10_000]) {
    for (const text of attacks(regexp, length)) {
      // Twice: the engine compiles, and collects garbage, while it happens to be measured.
      if (cpuTime(regexp, text) > 30_000 && cpuTime(regexp, text) > 30_000) return text;
    }
  }
  return undefined;
}

test("no regular expression of ours takes more than linear time", { timeout: 120_000 }, () => {
  const slow = ownPatterns().flatMap(({ place, regexp }) => {
    const text = slowText(regexp);
    return text === undefined ? [] : `${place} on ${text.length} of ${JSON.stringify(text.slice(0, 20))}`;
  });
  expect(slow).toEqual([]);
});
