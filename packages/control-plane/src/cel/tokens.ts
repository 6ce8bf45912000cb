import { type Issue, ParseFailure } from "./source.ts";

export interface Token {
  readonly kind: "ident" | "int" | "uint" | "double" | "string" | "bytes" | "symbol" | "end";
  readonly text: string;
  readonly at: number;
  /** What a string literal means, escapes resolved. */
  readonly value?: string;
  readonly bytes?: Uint8Array;
}

const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const STRING = /([rR]?[bB]?|[bB][rR])("""|'''|"|')/y;
const NUMBER =
  /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(0x[0-9a-fA-F]+|\d+)([uU]?)/y;
const IDENT = /[A-Za-z_][A-Za-z0-9_]*/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

/**
 * Splits CEL into tokens; the last one is always `end`. What is no token is reported and passed
 * over.
 */
export function tokenise(text: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  for (;;) {
    at += match(SPACE)?.[0].length ?? 0;
    if (at >= text.length) {
      tokens.push({ kind: "end", text: "", at });
      return { tokens, issues };
    }
    const opening = match(STRING);
    if (opening !== null) {
      const { token, end } = stringToken(text, at, opening[1] as string, opening[2] as string);
      if (token !== undefined) tokens.push(token);
      else issues.push({ at, message: `Syntax error: token recognition error at: '${text.slice(at, end)}'` });
      at = end;
      continue;
    }
    const previous = tokens.at(-1);
    const afterMember = previous?.text === "." && previous.kind === "symbol";
    const number = afterMember ? null : match(NUMBER);
    if (number !== null && !(text[at] === "." && isOperandEnd(previous))) {
      const whole = number[1];
      if (whole === undefined) tokens.push({ kind: "double", text: number[0], at });
      else tokens.push({ kind: number[2] === "" ? "int" : "uint", text: whole, at });
      at += number[0].length;
      continue;
    }
    const ident = match(IDENT);
    if (ident !== null) {
      const word = ident[0];
      tokens.push({ kind: word === "in" ? "symbol" : "ident", text: word, at });
      at += word.length;
      continue;
    }
    const symbol = match(SYMBOL);
    if (symbol === null) {
      const char = String.fromCodePoint(text.codePointAt(at) as number);
      issues.push({ at, message: `Syntax error: token recognition error at: '${char}'` });
      at += char.length;
      continue;
    }
    tokens.push({ kind: "symbol", text: symbol[0], at });
    at += symbol[0].length;
  }
}

function isOperandEnd(token: Token | undefined): boolean {
  if (token === undefined) return false;
  return token.kind !== "symbol" || token.text === ")" || token.text === "]" || token.text === "}";
}

function stringToken(
  text: string,
  at: number,
  prefix: string,
  quote: string,
): { token: Token | undefined; end: number } {
  const raw = /r/i.test(prefix);
  const isBytes = /b/i.test(prefix);
  const start = at + prefix.length + quote.length;
  let end = start;
  for (;;) {
    const char = text[end];
    if (char === undefined || (quote.length === 1 && (char === "\n" || char === "\r"))) {
      return { token: undefined, end };
    }
    if (text.startsWith(quote, end)) break;
    end += char === "\\" && !raw ? 2 : 1;
  }
  const body = text.slice(start, end);
  const kind = isBytes ? "bytes" : "string";
  const shown = text.slice(at, end + quote.length);
  const token = { kind, text: shown, at } as const;
  if (isBytes) {
    const bytes = raw ? new TextEncoder().encode(body) : unescapeBytes(body, at);
    return { token: { ...token, bytes }, end: end + quote.length };
  }
  return { token: { ...token, value: raw ? body : unescapeText(body, at) }, end: end + quote.length };
}

const ESCAPE =
  /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))/g;
const SIMPLE: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescapeText(body: string, at: number): string {
  return body.replace(ESCAPE, (_all, simple, hex, short, long, octal) => {
    if (simple !== undefined) return SIMPLE[simple as string] ?? (simple as string);
    const digits = (hex ?? short ?? long) as string | undefined;
    const point = digits === undefined ? Number.parseInt(octal as string, 8) : Number.parseInt(digits, 16);
    if (Number.isNaN(point) || point > 0x10ffff) {
      throw new ParseFailure([{ at, message: "Syntax error: unable to unescape string" }]);
    }
    return String.fromCodePoint(point);
  });
}

/** In bytes, `\x` and octal escapes are one byte each; everything else is UTF-8. */
function unescapeBytes(body: string, at: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let last = 0;
  for (const match of body.matchAll(ESCAPE)) {
    parts.push(encoder.encode(body.slice(last, match.index)));
    const code = match[2] !== undefined ? Number.parseInt(match[2], 16) : Number.parseInt(match[5] ?? "", 8);
    parts.push(Number.isNaN(code) ? encoder.encode(unescapeText(match[0], at)) : Uint8Array.of(code));
    last = match.index + match[0].length;
  }
  parts.push(encoder.encode(body.slice(last)));
  return Uint8Array.from(Buffer.concat(parts));
}
