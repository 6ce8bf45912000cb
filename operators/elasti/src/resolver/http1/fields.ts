import { MalformedMessageError } from "./malformed.ts";
import { COLON, CR, kinds, SPACE, TAB, TOKEN, VALUE } from "./syntax.ts";

/** How many lines a head may have after its first. */
const MOST_FIELDS = 256;

/** What is done with a field: it is passed on, or the one who asked decides. */
export type FieldVerdict = "keep" | "drop";

/**
 * Reads the field lines of a head, from `start` to the end of `text`.
 *
 * @param special names in lower case that `decide` is asked about. All others are kept.
 * @returns the lines that are kept, as they were sent.
 * @throws MalformedMessageError for a line that is not `name: value`. Blanks before the colon and
 *   folded lines are among them: servers differ in what they make of those.
 */
export function readFields(
  text: string,
  start: number,
  special: SpecialNames,
  decide: (name: string, value: string) => FieldVerdict,
): string {
  const { length } = text;
  let kept = "";
  let keptFrom = start;
  let count = 0;
  for (let line = start; line < length; ) {
    let at = line;
    while (((kinds[text.charCodeAt(at)] as number) & TOKEN) !== 0) at++;
    if (at === line || text.charCodeAt(at) !== COLON) throw malformedLine(text, line, at);
    const colon = at++;
    let code = text.charCodeAt(at);
    while (code === SPACE || code === TAB) code = text.charCodeAt(++at);
    const value = at;
    while (((kinds[code] as number) & VALUE) !== 0) code = text.charCodeAt(++at);
    if (code !== CR || at + 2 > length || text.charCodeAt(at + 1) !== 0x0a)
      throw new MalformedMessageError("field-line", "control character in a field's value");
    const next = at + 2;
    if (++count > MOST_FIELDS) throw new MalformedMessageError("too-large", "too many fields", 431);
    if (special.mayHave(colon - line)) {
      const name = text.slice(line, colon).toLowerCase();
      if (special.has(name)) {
        let end = at;
        while (end > value && isBlank(text.charCodeAt(end - 1))) end--;
        if (decide(name, text.slice(value, end)) === "drop") {
          if (keptFrom < line) kept += text.slice(keptFrom, line);
          keptFrom = next;
        }
      }
    }
    line = next;
  }
  return keptFrom === start ? text.slice(start) : kept + text.slice(keptFrom);
}

/**
 * Names of fields that matter to a proxy. Most fields differ from all of them by their
 * length.
 */
export class SpecialNames {
  readonly #names: ReadonlySet<string>;
  readonly #lengths: Uint8Array;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#lengths = new Uint8Array(Math.max(...names.map((name) => name.length)) + 1);
    for (const { length } of names) this.#lengths[length] = 1;
  }

  /** Whether a name of this length may be one. */
  mayHave(length: number): boolean {
    return this.#lengths[length] === 1;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}

/**
 * The lines that are left when fields of some names are taken out. For the few messages that name
 * their own hop-by-hop fields.
 */
export function withoutFields(lines: string, names: ReadonlySet<string>): string {
  let kept = "";
  for (const line of lines.split("\r\n")) {
    const name = line.slice(0, line.indexOf(":")).toLowerCase();
    if (line !== "" && !names.has(name)) kept += `${line}\r\n`;
  }
  return kept;
}

/** The value of a field in lines that `readFields` gave; several are joined by commas. */
export function fieldValue(lines: string, name: string): string | undefined {
  const values: string[] = [];
  for (const line of lines.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === name.length && line.slice(0, colon).toLowerCase() === name)
      values.push(line.slice(colon + 1).trim());
  }
  return values.length > 0 ? values.join(", ") : undefined;
}

/** The members of a comma-separated list, in lower case. */
export function listed(value: string): readonly string[] {
  return value
    .toLowerCase()
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
}

/** @throws MalformedMessageError unless it is digits alone, and small enough to count with. */
export function contentLength(value: string): number {
  if (!/^\d{1,15}$/.test(value))
    throw new MalformedMessageError("content-length", "malformed Content-Length");
  return Number(value);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function malformedLine(text: string, line: number, at: number): MalformedMessageError {
  const code = text.charCodeAt(at);
  if (at === line && isBlank(code)) return new MalformedMessageError("field-line", "folded field line");
  if (isBlank(code)) return new MalformedMessageError("field-line", "blank before a field's colon");
  return new MalformedMessageError("field-line", "malformed field line");
}
