/** RE2 refuses patterns whose repetitions multiply to more. */
const mostRounds = 1_000;

/** What a Unicode class weighs beside a single character: it is a table of hundreds of ranges. */
const unicodeClass = 50;

/**
 * How many instructions RE2 makes of a pattern, at most: its repetitions are unrolled. Found by a
 * glance at the text, whether the pattern is valid or not, so that a large one is not compiled just
 * to find out that it is large.
 */
export function programSize(pattern: string): number {
  const open: Level[] = [];
  let level: Level = { size: 1, last: 0 };
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at];
    const counted = character === "{" ? repeat(pattern, at) : undefined;
    const flags = character === "(" ? /^\(\?[a-zA-Z-]*\)/.exec(pattern.slice(at, at + 16)) : null;
    if (flags !== null) {
      // Flags are no operand: a repetition after them repeats what stands before them.
      at += flags[0].length;
    } else if (character === "(") {
      open.push(level);
      level = { size: 1, last: 0 };
      at++;
    } else if (character === ")") {
      const group = level.size + level.last + 2;
      level = open.pop() ?? { size: 1, last: 0 };
      add(level, group);
      at++;
    } else if (counted !== undefined) {
      level.last = (level.last + 1) * counted.rounds;
      at = counted.end;
    } else if (character === "*" || character === "+" || character === "?" || character === "|") {
      level.last += 2;
      at++;
    } else {
      const atom = atomAt(pattern, at);
      add(level, atom.weight);
      at = atom.end;
    }
  }
  return open.reduce((sum, { size, last }) => sum + size + last, level.size + level.last);
}

interface Level {
  size: number;
  /** The size of what a repetition that follows would repeat. */
  last: number;
}

function add(level: Level, weight: number): void {
  level.size += level.last;
  level.last = weight;
}

function repeat(pattern: string, at: number): { readonly rounds: number; readonly end: number } | undefined {
  const found = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(at, at + 32));
  if (found === null) return undefined;
  const rounds = Math.max(Number(found[1]) + 1, Number(found[2] ?? 0));
  return { rounds: Math.min(rounds, mostRounds + 1), end: at + found[0].length };
}

/** A character, an escape or a class. */
function atomAt(pattern: string, at: number): { readonly weight: number; readonly end: number } {
  if (pattern[at] !== "[") {
    if (pattern[at] !== "\\") return { weight: 1, end: at + 1 };
    return { weight: /[pP]/.test(pattern[at + 1] ?? "") ? unicodeClass : 1, end: at + 2 };
  }
  let weight = 1;
  let next = pattern[at + 1] === "^" ? at + 2 : at + 1;
  // A bracket that comes first stands for itself.
  const first = next;
  while (next < pattern.length && (pattern[next] !== "]" || next === first)) {
    const end = pattern.startsWith("[:", next) ? pattern.indexOf(":]", next) : -1;
    if (end >= 0) next = end + 2;
    else if (/^\\[dDwWsSpP]/.test(pattern.slice(next, next + 2))) {
      weight += /[pP]/.test(pattern[next + 1] ?? "") ? unicodeClass : 0;
      next += 2;
    } else next = endOfRange(pattern, next);
  }
  // Thousands of ranges are sorted and searched.
  return { weight: weight + Math.floor((next - at) / 16), end: next + 1 };
}

/** Past a character of a class, or past a range, whose second character may be a bracket. */
function endOfRange(pattern: string, at: number): number {
  const past = (character: number) => character + (pattern[character] === "\\" ? 2 : 1);
  const low = past(at);
  const isRange = pattern[low] === "-" && low + 1 < pattern.length && pattern[low + 1] !== "]";
  return isRange ? past(low + 1) : low;
}
