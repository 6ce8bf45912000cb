import { JsonnetError, type Location } from "./location.ts";

/**
 * What the parser reads. `text` is what was written; for strings and numbers, `value` is what it
 * means.
 */
export type Token =
  | { readonly kind: "string"; readonly value: string; readonly text: string; readonly at: Location }
  | { readonly kind: "number"; readonly value: number; readonly text: string; readonly at: Location }
  | {
      readonly kind: "identifier" | "keyword" | "symbol" | "end";
      readonly text: string;
      readonly at: Location;
    };

const keywords = new Set(
  "assert else error false for function if import importstr importbin in local null tailstrict then self super true".split(
    " ",
  ),
);
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const blank = /(?:[ \t\r\n]+|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const operatorCharacters = new Set("!$:~+-&|^=<>*/%");
const punctuation = new Set("{}[],.();");

/**
 * The tokens of a file, with a token of kind `end` at last.
 *
 * @throws JsonnetError for characters and strings that jsonnet does not know.
 */
export function tokenize(file: string, source: string): readonly Token[] {
  return new Lexer(file, source).run();
}

class Lexer {
  readonly #file: string;
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #offset = 0;
  #line = 1;
  #lineStart = 0;
  /** Up to where lines were counted. */
  #counted = 0;

  constructor(file: string, source: string) {
    this.#file = file;
    this.#source = source;
  }

  run(): readonly Token[] {
    for (;;) {
      this.#match(blank);
      const at = this.#here();
      const character = this.#source[this.#offset];
      if (character === undefined) {
        this.#tokens.push({ kind: "end", text: "end of file", at });
        return this.#tokens;
      }
      this.#tokens.push(this.#token(character, at));
    }
  }

  #token(character: string, at: Location): Token {
    const name = this.#match(word);
    if (name !== undefined) return { kind: keywords.has(name) ? "keyword" : "identifier", text: name, at };
    const digits = this.#match(number);
    if (digits !== undefined) return { kind: "number", value: Number(digits), text: digits, at };
    if (character === '"' || character === "'") return this.#quoted(character, at);
    if (character === "@") return this.#verbatim(at);
    if (this.#source.startsWith("|||", this.#offset)) return this.#block(at);
    if (punctuation.has(character)) {
      this.#offset += 1;
      return { kind: "symbol", text: character, at };
    }
    if (operatorCharacters.has(character)) return { kind: "symbol", text: this.#operator(), at };
    throw new JsonnetError(at, `unexpected character ${JSON.stringify(character)}`);
  }

  /**
   * The longest run of operator characters that begins no comment or text block and ends in no
   * prefix operator.
   */
  #operator(): string {
    const start = this.#offset;
    let end = start;
    while (operatorCharacters.has(this.#source[end] ?? "")) {
      const rest = this.#source.slice(end, end + 3);
      if (end > start && (rest.startsWith("//") || rest.startsWith("/*") || rest === "|||")) break;
      end += 1;
    }
    while (end > start + 1 && "+-~!$".includes(this.#source[end - 1] ?? "")) end -= 1;
    this.#offset = end;
    return this.#source.slice(start, end);
  }

  #quoted(quote: string, at: Location): Token {
    const start = this.#offset;
    let value = "";
    let index = start + 1;
    for (;;) {
      const character = this.#source[index];
      if (character === undefined) throw new JsonnetError(at, "this string does not end");
      if (character === quote) break;
      if (character !== "\\") {
        value += character;
        index += 1;
        continue;
      }
      const code = this.#source[index + 1] ?? "";
      if (code === "u") {
        const hex = this.#source.slice(index + 2, index + 6);
        if (!/^[0-9A-Fa-f]{4}$/.test(hex))
          throw new JsonnetError(
            at,
            `\\u${hex} in this string is no character: it needs four hexadecimal digits`,
          );
        value += String.fromCharCode(Number.parseInt(hex, 16));
        index += 6;
        continue;
      }
      const escaped = escapes[code];
      if (escaped === undefined) throw new JsonnetError(at, `\\${code} in this string is no escape`);
      value += escaped;
      index += 2;
    }
    this.#offset = index + 1;
    return { kind: "string", value, text: this.#source.slice(start, this.#offset), at };
  }

  /** `@'…'`: no escapes but a doubled quote. */
  #verbatim(at: Location): Token {
    const start = this.#offset;
    const quote = this.#source[start + 1] ?? "";
    if (quote !== '"' && quote !== "'") throw new JsonnetError(at, 'unexpected character "@"');
    let index = start + 2;
    let value = "";
    for (;;) {
      const end = this.#source.indexOf(quote, index);
      if (end < 0) throw new JsonnetError(at, "this string does not end");
      value += this.#source.slice(index, end);
      index = end + 1;
      if (this.#source[index] !== quote) break;
      value += quote;
      index += 1;
    }
    this.#offset = index;
    return { kind: "string", value, text: this.#source.slice(start, index), at };
  }

  /** `|||`: lines that are indented as far as the first, up to one that is not. */
  #block(at: Location): Token {
    const start = this.#offset;
    const head = /\|\|\|(-?)[ \t\r]*\n/y;
    head.lastIndex = start;
    const opened = head.exec(this.#source);
    if (!opened) throw new JsonnetError(at, "a text block needs a line break after |||");
    let index = head.lastIndex;
    let indent: string | undefined;
    let value = "";
    for (;;) {
      const end = this.#source.indexOf("\n", index);
      const line = this.#source.slice(index, end < 0 ? undefined : end);
      indent ??= line.trim() === "" ? undefined : (/^[ \t]*/.exec(line)?.[0] ?? "");
      if (indent === "") throw new JsonnetError(at, "the first line of a text block must be indented");
      if (line.trim() === "" && end >= 0) value += "\n";
      else if (indent !== undefined && line.startsWith(indent) && end >= 0)
        value += `${line.slice(indent.length)}\n`;
      else {
        const close = line.indexOf("|||");
        if (close < 0 || line.slice(0, close).trim() !== "")
          throw new JsonnetError(at, "this text block does not end with |||");
        this.#offset = index + close + 3;
        break;
      }
      index = end + 1;
    }
    if (opened[1] === "-") value = value.replace(/\n$/, "");
    return { kind: "string", value, text: this.#source.slice(start, this.#offset), at };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#source)?.[0];
    if (found === undefined) return undefined;
    this.#offset += found.length;
    return found;
  }

  #here(): Location {
    for (let index = this.#counted; index < this.#offset; index++) {
      if (this.#source[index] !== "\n") continue;
      this.#line += 1;
      this.#lineStart = index + 1;
    }
    this.#counted = this.#offset;
    return { file: this.#file, line: this.#line, column: this.#offset - this.#lineStart + 1 };
  }
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
