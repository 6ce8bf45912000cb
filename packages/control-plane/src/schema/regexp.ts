/** A pattern that RE2 does not accept, with the words Go's regexp package has for it. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatternError";
  }
}

const POSIX_CLASSES: { readonly [name: string]: string } = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Perl classes are ASCII in RE2, also where JavaScript's are wider. */
const PERL_CLASSES: { readonly [name: string]: readonly [outside: string, inside: string] } = {
  d: ["[0-9]", "0-9"],
  D: ["[^0-9]", "\\D"],
  w: ["[0-9A-Za-z_]", "0-9A-Za-z_"],
  W: ["[^0-9A-Za-z_]", "\\W"],
  s: ["[\\t\\n\\f\\r ]", "\\t\\n\\f\\r "],
  S: ["[^\\t\\n\\f\\r ]", "\\S"],
};

const compiled = new Map<string, RegExp | PatternError>();

/**
 * Compiles an RE2 pattern. What RE2 refuses (look-around, back-references) is refused here too, so that a pattern that
 * works here works on a real cluster.
 *
 * @throws PatternError
 */
export function compilePattern(pattern: string): RegExp {
  let result = compiled.get(pattern);
  if (result === undefined) {
    try {
      result = translate(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      result = error;
    }
    if (compiled.size > 10_000) compiled.clear();
    compiled.set(pattern, result);
  }
  if (result instanceof PatternError) throw result;
  return result;
}

function translate(pattern: string): RegExp {
  const source = new Translator(pattern).run();
  try {
    return new RegExp(source, "u");
  } catch {
    throw new PatternError(`error parsing regexp: invalid syntax: \`${pattern}\``);
  }
}

/** What is open at one level of nesting: groups that inline flags began there, and whether `.` takes newlines. */
interface Level {
  readonly opened: string[];
  dotAll: boolean;
}

class Translator {
  private readonly pattern: string;
  private readonly levels: Level[] = [{ opened: [], dotAll: false }];
  private at = 0;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  run(): string {
    let source = "";
    let repeatable = false;
    while (this.at < this.pattern.length) {
      const char = this.pattern[this.at] as string;
      const level = this.levels.at(-1) as Level;
      if (char === "\\") {
        source += this.escape();
        repeatable = true;
      } else if (char === "[") {
        source += this.characterClass();
        repeatable = true;
      } else if (char === "(") {
        source += this.group(level);
        repeatable = false;
      } else if (char === ")") {
        if (this.levels.length === 1) throw fault("unexpected )", this.pattern);
        this.levels.pop();
        this.at++;
        source += `${")".repeat(level.opened.length)})`;
        repeatable = true;
      } else if (char === "|") {
        // Inline flags reach over an alternation, but the groups that stand for them must not.
        this.at++;
        source += `${")".repeat(level.opened.length)}|${level.opened.join("")}`;
        repeatable = false;
      } else if (char === "^" || char === "$") {
        this.at++;
        source += char;
        repeatable = false;
      } else if (char === ".") {
        this.at++;
        source += level.dotAll ? "[\\s\\S]" : "[^\\n]";
        repeatable = true;
      } else if (char === "*" || char === "+" || char === "?") {
        if (!repeatable) throw fault("missing argument to repetition operator", char);
        source += this.repetition(char);
      } else if (char === "{") {
        const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.pattern.slice(this.at));
        if (counted === null) {
          this.at++;
          source += "\\{";
          repeatable = true;
        } else {
          if (!repeatable) throw fault("missing argument to repetition operator", counted[0]);
          const least = Number(counted[1]);
          const most = counted[3] === undefined || counted[3] === "" ? least : Number(counted[3]);
          if (least > 1000 || most > 1000 || most < least) throw fault("invalid repeat count", counted[0]);
          source += this.repetition(counted[0]);
        }
      } else {
        const point = String.fromCodePoint(this.pattern.codePointAt(this.at) as number);
        this.at += point.length;
        source += point === "}" || point === "]" || point === "/" ? `\\${point}` : point;
        repeatable = true;
      }
    }
    if (this.levels.length > 1) throw fault("missing closing )", this.pattern);
    return source + ")".repeat((this.levels[0] as Level).opened.length);
  }

  /** A quantifier and its lazy mark. A second quantifier is an error in RE2, as in JavaScript. */
  private repetition(text: string): string {
    this.at += text.length;
    let taken = text;
    if (this.pattern[this.at] === "?") {
      this.at++;
      taken += "?";
    }
    const next = this.pattern[this.at];
    if (next === "*" || next === "+" || next === "?") {
      throw fault("invalid nested repetition operator", `${taken}${next}`);
    }
    return taken;
  }

  private group(level: Level): string {
    const rest = this.pattern.slice(this.at);
    if (!rest.startsWith("(?")) {
      this.at++;
      this.levels.push({ opened: [], dotAll: level.dotAll });
      return "(";
    }
    const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
    if (named !== null) {
      this.at += named[0].length;
      this.levels.push({ opened: [], dotAll: level.dotAll });
      return `(?<${named[1]}>`;
    }
    const flagged = /^\(\?([imsU]*)(-([imsU]+))?([:)])/.exec(rest);
    if (flagged === null) throw fault("invalid or unsupported Perl syntax", rest.slice(0, 3));
    this.at += flagged[0].length;
    const on = flagged[1] as string;
    const off = flagged[3] ?? "";
    const dotAll = off.includes("s") ? false : on.includes("s") || level.dotAll;
    const flags = `${on.replace(/[sU]/g, "")}${off.replace(/[sU]/g, "") === "" ? "" : `-${off.replace(/[sU]/g, "")}`}`;
    if (flagged[4] === ":") {
      this.levels.push({ opened: [], dotAll });
      return `(?${flags}:`;
    }
    level.dotAll = dotAll;
    level.opened.push(`(?${flags}:`);
    return `(?${flags}:`;
  }

  private escape(): string {
    const next = this.pattern[this.at + 1];
    if (next === undefined) throw fault("trailing backslash at end of expression", "");
    if (next in PERL_CLASSES) {
      this.at += 2;
      return (PERL_CLASSES[next] as readonly [string, string])[0];
    }
    if (next === "b" || next === "B") {
      this.at += 2;
      return `\\${next}`;
    }
    if (next === "A" || next === "z") {
      this.at += 2;
      return next === "A" ? "(?<![\\s\\S])" : "(?![\\s\\S])";
    }
    if (next === "Q") {
      const end = this.pattern.indexOf("\\E", this.at + 2);
      const literal = this.pattern.slice(this.at + 2, end < 0 ? undefined : end);
      this.at = end < 0 ? this.pattern.length : end + 2;
      return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    }
    return this.escapedCharacter();
  }

  /** Escapes that mean one character, or a Unicode class: the same inside and outside brackets. */
  private escapedCharacter(): string {
    const rest = this.pattern.slice(this.at);
    const property = /^\\([pP])(\{(\^?)(\w+)\}|([A-Z]))/.exec(rest);
    if (property !== null) {
      this.at += property[0].length;
      const name = property[4] ?? property[5] ?? "";
      const negated = (property[1] === "P") !== (property[3] === "^");
      const value = name.length <= 2 ? name : `Script=${name}`;
      return `\\${negated ? "P" : "p"}{${value}}`;
    }
    const hex = /^\\x([0-9A-Fa-f]{2}|\{([0-9A-Fa-f]+)\})/.exec(rest);
    if (hex !== null) {
      this.at += hex[0].length;
      return `\\u{${hex[2] ?? hex[1]}}`;
    }
    const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{2})/.exec(rest);
    if (octal !== null) {
      this.at += octal[0].length;
      return `\\u{${Number.parseInt(octal[1] as string, 8).toString(16)}}`;
    }
    const next = rest[1] as string;
    const control = { a: "\\x07", f: "\\f", n: "\\n", r: "\\r", t: "\\t", v: "\\v" }[next];
    if (control !== undefined) {
      this.at += 2;
      return control;
    }
    if (/[0-9A-Za-z]/.test(next) || next.charCodeAt(0) > 0x7f) {
      throw fault("invalid escape sequence", rest.slice(0, 2));
    }
    this.at += 2;
    return /[\\^$.*+?()[\]{}|/]/.test(next) ? `\\${next}` : next === "-" ? "\\x2d" : next;
  }

  private characterClass(): string {
    const start = this.at;
    this.at++;
    let source = "[";
    if (this.pattern[this.at] === "^") {
      source += "^";
      this.at++;
    }
    let first = true;
    for (;;) {
      const char = this.pattern[this.at];
      if (char === undefined) throw fault("missing closing ]", this.pattern.slice(start));
      if (char === "]" && !first) {
        this.at++;
        return `${source}]`;
      }
      first = false;
      const posix = /^\[:(\^?)(\w+):\]/.exec(this.pattern.slice(this.at));
      if (posix !== null) {
        const set = POSIX_CLASSES[posix[2] as string];
        if (set === undefined || posix[1] === "^") throw fault("invalid character class range", posix[0]);
        this.at += posix[0].length;
        source += set;
        continue;
      }
      const low = this.classMember();
      const dash = this.pattern[this.at] === "-" && this.pattern[this.at + 1] !== "]";
      if (!dash || this.pattern[this.at + 1] === undefined) {
        source += low.source;
        continue;
      }
      const from = this.at;
      this.at++;
      const high = this.classMember();
      if (low.point === undefined || high.point === undefined || high.point < low.point) {
        throw fault("invalid character class range", this.pattern.slice(Math.max(start, from - 1), this.at));
      }
      source += `${low.source}-${high.source}`;
    }
  }

  private classMember(): { source: string; point?: number } {
    const char = this.pattern[this.at] as string;
    if (char === "\\") {
      const next = this.pattern[this.at + 1];
      if (next === undefined) throw fault("trailing backslash at end of expression", "");
      const perl = PERL_CLASSES[next];
      if (perl !== undefined) {
        this.at += 2;
        return { source: perl[1] };
      }
      const source = this.escapedCharacter();
      if (/^\\[pP]/.test(source)) return { source };
      return { source: source === "-" ? "\\-" : source, point: pointOf(source) };
    }
    const point = this.pattern.codePointAt(this.at) as number;
    const text = String.fromCodePoint(point);
    this.at += text.length;
    return { source: /[\\^$.*+?()[\]{}|/-]/.test(text) ? `\\${text}` : text, point };
  }
}

function pointOf(source: string): number {
  const hex = /^\\u\{([0-9A-Fa-f]+)\}$/.exec(source) ?? /^\\x([0-9A-Fa-f]{2})$/.exec(source);
  if (hex !== null) return Number.parseInt(hex[1] as string, 16);
  const control = { "\\f": 12, "\\n": 10, "\\r": 13, "\\t": 9, "\\v": 11 }[source];
  if (control !== undefined) return control;
  return (source.startsWith("\\") ? source.slice(1) : source).codePointAt(0) as number;
}

function fault(what: string, where: string): PatternError {
  return new PatternError(`error parsing regexp: ${what}: \`${where}\``);
}
