import { type Json, type JsonObject, type NoteNumber, parseExact } from "../json.ts";
import { finishNow, nextTurn, type Steps, TurnBudget, turnIf } from "../steps.ts";
import { goQuote } from "./go-text.ts";
import { endOfString, pieceLength, readInPieces } from "./json-pieces.ts";

/**
 * A body that cannot be read. The message is what Go's decoder says, which the API server passes
 * on.
 */
export class ParseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ParseError";
  }
}

export interface Parsed {
  readonly value: Json;
  /**
   * One message per field given more than once (`duplicate field "spec.x"`), in the order of the
   * text. The last one holds. Of JSON no more than the real server says.
   */
  readonly duplicates: string[];
  /** Numbers that were not written as their value is; absent where all were. */
  readonly numbers?: NumberSources;
}

/**
 * How numbers were written, where that tells more than their value: `1.0`, `1e5`, or more digits
 * than a number holds.
 */
export class NumberSources {
  readonly #sources = new Map<object, Map<string, string>>();
  /**
   * The first number that no float64 holds; undefined if there is none. In the value it is
   * infinite.
   */
  outOfRange: string | undefined;

  note(holder: object, key: string, source: string): void {
    const held = this.#sources.get(holder);
    if (held) held.set(key, source);
    else this.#sources.set(holder, new Map([[key, source]]));
    if (!Number.isFinite(Number(source))) this.outOfRange ??= source;
  }

  /**
   * The text of a number, by what holds it and its name or index there; undefined where its value
   * tells it.
   */
  of(holder: object, key: string | number): string | undefined {
    return this.#sources.get(holder)?.get(String(key));
  }
}

export interface ParseOptions {
  /**
   * Look for fields given more than once. It costs a pass over the value, so ask only when the
   * answer is used.
   *
   * @default false
   */
  readonly findDuplicates?: boolean;
  /**
   * How a number is read that no float64 holds: it is refused, or it is in the value as
   * infinite and in `numbers` as it was written.
   *
   * @default "refused"
   */
  readonly outOfRange?: "refused" | "noted";
}

/**
 * How deeply objects and lists may nest. The real server allows 10,000, but nothing that people
 * write comes near either figure, and every recursive walk over an object relies on this one.
 */
export const MAX_DEPTH = 1000;

/**
 * The real server's decoder reports no more faults than this, of fields that are unknown or given
 * twice.
 */
export const MAX_STRICT_ERRORS = 100;

/**
 * Reads JSON. A field named `__proto__` becomes an own field like any other and never touches a
 * prototype.
 *
 * @throws ParseError
 */
export function parseJson(text: string, options: ParseOptions = {}): Parsed {
  return finishNow(parse(text, options, false));
}

/** As {@link parseJson}; of a long text with turns of the event loop in between. */
export function parseJsonInSteps(text: string, options: ParseOptions = {}): Steps<Parsed> {
  return parse(text, options, text.length > LONG_TEXT);
}

/** Texts with more characters than this are not read in one go. */
const LONG_TEXT = 100_000;
const CHARACTERS_PER_TURN = 500_000;

function* parse(given: string, options: ParseOptions, isSlow: boolean): Steps<Parsed> {
  const text = withoutHalves(given);
  const survey = new Survey(text, isSlow);
  while (!survey.isDone) {
    survey.goOn(CHARACTERS_PER_TURN);
    yield* turnIf(isSlow);
  }
  const { isTooDeep, hasOddNumbers, members } = survey;
  if (isTooDeep) throw new ParseError("exceeded max depth");
  const numbers = new NumberSources();
  const note: NoteNumber | undefined = hasOddNumbers
    ? (holder, key, source) => numbers.note(holder, key, source)
    : undefined;
  let value: Json;
  try {
    if (isSlow) value = yield* readInPieces(text, survey.longParts, note);
    else value = note ? parseExact(text, note) : (JSON.parse(text) as Json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ParseError(yield* syntaxFault(text, isSlow));
  }
  if (numbers.outOfRange !== undefined && options.outOfRange !== "noted") {
    throw new ParseError(outOfRange(numbers.outOfRange));
  }
  yield* turnIf(isSlow);
  const read = { value, ...(hasOddNumbers ? { numbers } : {}) };
  // What the text has more often than the value was given more than once.
  if (options.findDuplicates !== true || (yield* countMembers(value, isSlow)) === members) {
    return { ...read, duplicates: [] };
  }
  yield* turnIf(isSlow);
  return { ...read, duplicates: yield* new Scanner(text, isSlow).duplicates() };
}

/** An escape, and what of a character outside of the first 65,536 it writes. */
const escapes = /\\(?:u(d[89ab][\da-f]{2}(?:\\ud[c-f][\da-f]{2})?|d[c-f][\da-f]{2})|.)/gis;

/** As Go reads it, half of such a character is none: U+FFFD is in its place. */
function withoutHalves(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(escapes, (whole, halves?: string) => (halves?.length === 4 ? "\\ufffd" : whole));
}

/** How many fields the objects of a value have in all. */
function* countMembers(value: Json, isSlow: boolean): Steps<number> {
  let members = 0;
  const budget = new TurnBudget(50_000);
  const open: (JsonObject | Json[])[] = isContainer(value) ? [value] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (isContainer(item)) open.push(item);
      if (isSlow && budget.spend(1 + next.length)) yield nextTurn;
      continue;
    }
    // By keys: the values of a large map take four times as long.
    for (const key of Object.keys(next)) {
      members++;
      const item = next[key] as Json;
      if (isContainer(item)) open.push(item);
      if (isSlow && budget.spend(1)) yield nextTurn;
    }
  }
  return members;
}

function isContainer(value: Json): value is JsonObject | Json[] {
  return typeof value === "object" && value !== null;
}

/** What Go says of a number that it cannot read without knowing what it is for. */
export function outOfRange(source: string, into = "Go value"): string {
  return `json: cannot unmarshal number ${source} into ${into} of type float64`;
}

/** More digits than this, and a number may not hold them. */
const SAFE_DIGITS = 15;

/** Looks over a text: most have no number that needs a second look. */
class Survey {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  isTooDeep = false;
  hasOddNumbers = false;
  /** How many fields there are in all: each has a colon. */
  members = 0;
  /** Where objects and lists that are long begin, and where their brackets close. */
  readonly longParts = new Map<number, number>();
  /**
   * Where those begin that are open; undefined where the caller does not need to know which are
   * long.
   */
  readonly #open: number[] | undefined;

  constructor(text: string, findLongParts: boolean) {
    this.#text = text;
    this.#open = findLongParts ? [] : undefined;
  }

  get isDone(): boolean {
    return this.isTooDeep || this.#at >= this.#text.length;
  }

  /** Looks at so many characters more. */
  goOn(characters: number): void {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + characters);
    let at = this.#at;
    for (; at < end && !this.isTooDeep; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        at = endOfString(text, at);
      } else if (code === 0x7b || code === 0x5b) {
        this.isTooDeep = ++this.#depth > MAX_DEPTH;
        this.#open?.push(at);
      } else if (code === 0x3a) {
        this.members++;
      } else if (code === 0x7d || code === 0x5d) {
        this.#depth--;
        const start = this.#open?.pop();
        if (start !== undefined && at - start > pieceLength) this.longParts.set(start, at);
      } else if (isDigit(code)) {
        const start = at;
        while (isDigit(text.charCodeAt(at + 1))) at++;
        const after = text[at + 1];
        const isMinusZero = code === 0x30 && text[start - 1] === "-";
        if (at - start >= SAFE_DIGITS || after === "." || after === "e" || after === "E" || isMinusZero)
          this.hasOddNumbers = true;
      }
    }
    this.#at = at;
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Walks text that is known to be JSON. */
class Scanner {
  readonly #text: string;
  readonly #isSlow: boolean;
  readonly #budget = new TurnBudget(20_000);
  readonly #found = new Set<string>();
  #at = 0;

  constructor(text: string, isSlow: boolean) {
    this.#text = text;
    this.#isSlow = isSlow;
  }

  *duplicates(): Steps<string[]> {
    yield* this.#value("");
    return [...this.#found];
  }

  *#value(path: string): Steps<void> {
    this.#space();
    const char = this.#text[this.#at];
    if (char === "{") yield* this.#object(path);
    else if (char === "[") yield* this.#array(path);
    else this.#scalar(char);
  }

  #scalar(char: string | undefined): void {
    const text = this.#text;
    if (char === '"') this.#at = endOfString(text, this.#at) + 1;
    else while (this.#at < text.length && !",]} \t\r\n".includes(text[this.#at] as string)) this.#at++;
  }

  *#object(path: string): Steps<void> {
    const names = new Set<string>();
    this.#at++;
    this.#space();
    while (this.#text[this.#at] !== "}") {
      if (this.#budget.spend(1)) yield* turnIf(this.#isSlow);
      const end = endOfString(this.#text, this.#at) + 1;
      const name = this.#name(end);
      const inner = path === "" ? name : `${path}.${name}`;
      if (names.has(name) && this.#found.size < MAX_STRICT_ERRORS) {
        this.#found.add(`duplicate field ${goQuote(inner)}`);
      }
      names.add(name);
      this.#at = end;
      this.#space();
      this.#at++;
      yield* this.#value(inner);
      this.#comma();
    }
    this.#at++;
  }

  /** The name that ends before `end`. Those without escapes, nearly all, are as they stand. */
  #name(end: number): string {
    const bare = this.#text.slice(this.#at + 1, end - 1);
    return bare.includes("\\") ? (JSON.parse(this.#text.slice(this.#at, end)) as string) : bare;
  }

  *#array(path: string): Steps<void> {
    this.#at++;
    this.#space();
    for (let index = 0; this.#text[this.#at] !== "]"; index++) {
      if (this.#budget.spend(1)) yield* turnIf(this.#isSlow);
      yield* this.#value(`${path}[${index}]`);
      this.#comma();
    }
    this.#at++;
  }

  #comma(): void {
    this.#space();
    if (this.#text[this.#at] !== ",") return;
    this.#at++;
    this.#space();
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }
}

const END = "unexpected end of JSON input";

/** What Go says of text that is not JSON. */
function* syntaxFault(text: string, isSlow: boolean): Steps<string> {
  let at = 0;
  const budget = new TurnBudget(50_000);
  const isDigitHere = (): boolean => isDigit(text.charCodeAt(at));
  const space = (): void => {
    while (" \t\r\n".includes(text[at] ?? "x")) at++;
  };
  const bad = (context: string): string => {
    const point = text.codePointAt(at);
    if (point === undefined) return END;
    const char = String.fromCodePoint(point);
    const shown = char === "'" ? "'\\''" : char === '"' ? "'\"'" : `'${escapeChar(char)}'`;
    return `invalid character ${shown} ${context}`;
  };

  const string = (): string | undefined => {
    at++;
    for (; ; at++) {
      const char = text[at];
      if (char === undefined) return END;
      if (char === '"') {
        at++;
        return undefined;
      }
      if (char < " ") return bad("in string literal");
      if (char !== "\\") continue;
      at++;
      if (text[at] === "u") {
        for (let digit = 0; digit < 4; digit++) {
          at++;
          if (!/^[0-9A-Fa-f]$/.test(text[at] ?? "")) return bad("in \\u hexadecimal character escape");
        }
      } else if (!'"\\/bfnrt'.includes(text[at] ?? "x")) {
        return bad("in string escape code");
      }
    }
  };

  const number = (): string | undefined => {
    if (text[at] === "-") {
      at++;
      if (!isDigitHere()) return bad("in numeric literal");
    }
    if (text[at] === "0") at++;
    else while (isDigitHere()) at++;
    if (text[at] === ".") {
      at++;
      if (!isDigitHere()) return bad("after decimal point in numeric literal");
      while (isDigitHere()) at++;
    }
    if (text[at] === "e" || text[at] === "E") {
      at++;
      if (text[at] === "+" || text[at] === "-") at++;
      if (!isDigitHere()) return bad("in exponent of numeric literal");
      while (isDigitHere()) at++;
    }
    return undefined;
  };

  const value = function* (): Steps<string | undefined> {
    if (budget.spend(1)) yield* turnIf(isSlow);
    space();
    const char = text[at];
    if (char === "{") {
      at++;
      space();
      if (text[at] === "}") {
        at++;
        return undefined;
      }
      for (;;) {
        space();
        if (text[at] !== '"') return bad("looking for beginning of object key string");
        const key = string();
        if (key !== undefined) return key;
        space();
        if (text[at] !== ":") return bad("after object key");
        at++;
        const inner = yield* value();
        if (inner !== undefined) return inner;
        space();
        if (text[at] === "}") {
          at++;
          return undefined;
        }
        if (text[at] !== ",") return bad("after object key:value pair");
        at++;
      }
    }
    if (char === "[") {
      at++;
      space();
      if (text[at] === "]") {
        at++;
        return undefined;
      }
      for (;;) {
        const inner = yield* value();
        if (inner !== undefined) return inner;
        space();
        if (text[at] === "]") {
          at++;
          return undefined;
        }
        if (text[at] !== ",") return bad("after array element");
        at++;
      }
    }
    if (char === '"') return string();
    if (char !== undefined && /[-0-9]/.test(char)) return number();
    for (const word of ["true", "false", "null"]) {
      if (char !== word[0]) continue;
      for (const letter of word) {
        if (text[at] !== letter) return bad(`in literal ${word} (expecting '${letter}')`);
        at++;
      }
      return undefined;
    }
    return bad("looking for beginning of value");
  };

  const fault = yield* value();
  if (fault !== undefined) return fault;
  space();
  return bad("after top-level value");
}

function escapeChar(char: string): string {
  const named: { readonly [char: string]: string } = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\" };
  const short = named[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0) as number;
  return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, "0")}` : char;
}
