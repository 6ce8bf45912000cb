import { JmespathError } from "./fault.ts";

/** What the parser reads. `symbol` is whatever stands for itself, and is its own text. */
export interface Token {
  readonly kind: "symbol" | "number" | "name" | "quoted" | "literal" | "end";
  /** As it is written. */
  readonly text: string;
  readonly offset: number;
}

const blank = /[ \t\r\n]+/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
/** `-` alone is one too, which no index can be. */
const number = /-[0-9]*|[0-9]+/y;
/** The longest first. */
const symbol = /\[\?|\[\]|\|\||&&|[<>!=]=|[.*,:{}\][()@|&<>!=]/y;
/** Those that go on to the next of the same, unless `\` is before it. */
const quoted = /"(?:[^"\\]|\\[\s\S])*"/y;
const json = /`(?:[^`\\]|\\[\s\S])*`/y;
/** Here `\` is nothing but a part of `\'`. */
const raw = /'(?:\\'|[^'\\]|\\(?!'))*'/y;

/**
 * The tokens of an expression, with one of kind `end` at last.
 *
 * @throws JmespathError at the first place that begins none.
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0];
  };
  const take = (kind: Token["kind"], found: string) => {
    tokens.push({ kind, text: found, offset });
    offset += found.length;
  };
  for (;;) {
    offset += match(blank)?.length ?? 0;
    if (offset === text.length) {
      take("end", "");
      return tokens;
    }
    const found = match(name);
    const digits = match(number);
    const sign = match(symbol);
    if (found !== undefined) take("name", found);
    else if (digits !== undefined) take("number", digits);
    else if (sign !== undefined) take("symbol", sign);
    else quotation();
  }

  function quotation(): void {
    const first = text[offset] ?? "";
    const pattern = { '"': quoted, "'": raw, "`": json }[first];
    if (!pattern) {
      const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
      throw new JmespathError(offset, `unexpected character ${JSON.stringify(character)}`);
    }
    const whole = match(pattern);
    if (whole === undefined) throw new JmespathError(offset, `there is no ${first} that ends this`);
    if (first === '"') checkQuoted(whole);
    if (first === "`") checkLiteral(whole);
    take(first === '"' ? "quoted" : "literal", whole);
  }

  function checkQuoted(whole: string): void {
    if (!isJson(whole)) throw new JmespathError(offset, `${whole} is no string of JSON`);
  }

  function checkLiteral(whole: string): void {
    const value = whole.slice(1, -1).replaceAll("\\`", "`");
    if (!isJson(value))
      throw new JmespathError(offset, `${whole} is no JSON between backticks; text is written as 'text'`);
  }
}

/** Whether it is JSON, with no number that is too large. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text, (_, value: unknown) => {
      if (value === Infinity || value === -Infinity) throw new SyntaxError("too large");
      return value;
    });
    return true;
  } catch (error) {
    // Text that is nested too deeply is a RangeError.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}
