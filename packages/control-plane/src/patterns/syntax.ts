import { anything, type CharacterSet, complement, perlClasses, setOf } from "./character-set.ts";

/** A part of a pattern. */
export type Part =
  | { readonly is: "character"; readonly set: CharacterSet }
  | { readonly is: "sequence"; readonly parts: readonly Part[] }
  | { readonly is: "choice"; readonly branches: readonly Part[] }
  | {
      readonly is: "repetition";
      readonly part: Part;
      readonly least: number;
      /** Infinity where there is no bound. */
      readonly most: number;
      readonly lazy: boolean;
    };

/** One of the alternatives that a pattern consists of. */
export interface Alternative {
  /** Whether it begins with `^`. */
  readonly fromStart: boolean;
  readonly part: Part;
  /** Whether it ends with `$`. */
  readonly toEnd: boolean;
}

/** Longer patterns are rare, and deep nesting would exhaust the stack. */
const longest = 1_000;

const notNewline = complement(setOf([[10, 10]]));

const controls: { readonly [letter: string]: number } = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/**
 * Reads the plain part of RE2's syntax, where RE2 and JavaScript mean the same: characters,
 * classes, groups, alternatives and repetitions, and anchors at both ends of an alternative.
 *
 * @returns undefined for everything else, be it valid or not
 */
export function parsePlain(pattern: string): readonly Alternative[] | undefined {
  if (pattern.length > longest) return undefined;
  try {
    return new Parser(pattern).alternatives();
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** Syntax that is left to RE2. */
class NotPlain extends Error {}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  alternatives(): Alternative[] {
    const found: Alternative[] = [];
    do {
      const fromStart = this.#take("^");
      const part = this.#sequence();
      found.push({ fromStart, part, toEnd: this.#take("$") });
    } while (this.#take("|"));
    if (this.#at < this.#text.length) throw new NotPlain();
    return found;
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #sequence(): Part {
    const parts: Part[] = [];
    for (let next = this.#text[this.#at]; next !== undefined; next = this.#text[this.#at]) {
      if (next === "|" || next === ")" || next === "$") break;
      parts.push(this.#repetition(this.#atom()));
    }
    return { is: "sequence", parts };
  }

  #atom(): Part {
    if (this.#take("(")) {
      if (!this.#take("?:") && this.#text[this.#at] === "?") throw new NotPlain();
      const branches: Part[] = [];
      do branches.push(this.#sequence());
      while (this.#take("|"));
      if (!this.#take(")")) throw new NotPlain();
      return { is: "choice", branches };
    }
    if (this.#take("[")) return { is: "character", set: this.#class() };
    if (this.#take(".")) return { is: "character", set: notNewline };
    if (this.#take("\\")) return { is: "character", set: this.#escape() };
    const point = this.#point();
    if ("*+?{}^]".includes(String.fromCodePoint(point))) throw new NotPlain();
    return { is: "character", set: setOf([[point, point]]) };
  }

  #repetition(part: Part): Part {
    const counts = this.#counts();
    if (counts === undefined) return part;
    const lazy = this.#take("?");
    const next = this.#text[this.#at];
    if (next !== undefined && "*+?{".includes(next)) throw new NotPlain();
    return { is: "repetition", part, ...counts, lazy };
  }

  #counts(): { readonly least: number; readonly most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { least: 0, most: 1 };
    if (this.#text[this.#at] !== "{") return undefined;
    const counted = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#text.slice(this.#at, this.#at + 12));
    if (counted === null) throw new NotPlain();
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    const most =
      counted[2] === undefined ? least : counted[3] === "" ? Number.POSITIVE_INFINITY : Number(counted[3]);
    if (least > 1_000 || (most > 1_000 && most !== Number.POSITIVE_INFINITY)) throw new NotPlain();
    if (most < least || most === 0) throw new NotPlain();
    return { least, most };
  }

  /** What follows a backslash: a class, or a character that stands for itself. */
  #escape(): CharacterSet {
    const point = this.#point();
    const character = String.fromCodePoint(point);
    const perl = perlClasses.get(character);
    if (perl !== undefined) return perl;
    const control = controls[character];
    if (control !== undefined) return setOf([[control, control]]);
    if (point > 0x7f || /[0-9A-Za-z]/.test(character)) throw new NotPlain();
    return setOf([[point, point]]);
  }

  #class(): CharacterSet {
    const negated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    for (let isFirst = true; isFirst || !this.#take("]"); isFirst = false) {
      if (this.#text.startsWith("[:", this.#at)) throw new NotPlain();
      const low = this.#member();
      const point = low.ranges[0]?.[0];
      const isSingle = low.ranges.length === 1 && point === low.ranges[0]?.[1];
      const hasDash = this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]";
      if (!hasDash) {
        ranges.push(...low.ranges);
        continue;
      }
      this.#at++;
      const high = this.#member();
      const end = high.ranges[0]?.[0];
      const isEnd = high.ranges.length === 1 && end === high.ranges[0]?.[1];
      if (!isSingle || !isEnd || point === undefined || end === undefined || end < point)
        throw new NotPlain();
      ranges.push([point, end]);
    }
    const set = setOf(ranges);
    return negated ? complement(set) : set;
  }

  #member(): CharacterSet {
    if (this.#take("\\")) return this.#escape();
    const point = this.#point();
    // Where brackets and dashes stand for themselves is a matter of taste that RE2 decides.
    if ("[]".includes(String.fromCodePoint(point))) throw new NotPlain();
    return setOf([[point, point]]);
  }

  #point(): number {
    const point = this.#text.codePointAt(this.#at);
    // Half a surrogate pair is no character of RE2's.
    if (point === undefined || (point >= 0xd800 && point <= 0xdfff)) throw new NotPlain();
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }
}

/** The pattern in JavaScript's syntax, for the `u` flag. */
export function javaScriptSource(alternatives: readonly Alternative[]): string {
  return alternatives
    .map(({ fromStart, part, toEnd }) => `${fromStart ? "^" : ""}${sourceOf(part)}${toEnd ? "$" : ""}`)
    .join("|");
}

function sourceOf(part: Part): string {
  switch (part.is) {
    case "character":
      return sourceOfSet(part.set);
    case "sequence":
      return part.parts.map(sourceOf).join("");
    case "choice":
      return `(?:${part.branches.map(sourceOf).join("|")})`;
    case "repetition":
      return `${sourceOf(part.part)}${quantifier(part.least, part.most)}${part.lazy ? "?" : ""}`;
  }
}

function quantifier(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? "*" : least === 1 ? "+" : `{${least},}`;
  return least === 0 && most === 1 ? "?" : `{${least},${most}}`;
}

function sourceOfSet(set: CharacterSet): string {
  // A class that goes on to the last code point is compiled better by what it leaves out.
  const isOpen = set.ranges.at(-1)?.[1] === anything.ranges[0]?.[1];
  const { ranges } = isOpen ? complement(set) : set;
  const body = ranges.map(([low, high]) => (low === high ? point(low) : `${point(low)}-${point(high)}`));
  return `[${isOpen ? "^" : ""}${body.join("")}]`;
}

function point(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
