import { type Json, stringify } from "../json.ts";

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const NAMED_ESCAPES = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/**
 * A string as Go's `%q` prints it. Error messages carry values in this form, and programs match on
 * them.
 */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    const named = NAMED_ESCAPES.get(char);
    if (named !== undefined) quoted += named;
    else if (code >= 0xd800 && code <= 0xdfff) quoted += "\\ufffd";
    else if (PRINTABLE.test(char)) quoted += char;
    else if (code < 0x80) quoted += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code < 0x10000) quoted += `\\u${code.toString(16).padStart(4, "0")}`;
    else quoted += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return `${quoted}"`;
}

/** A number as Go's `%v` prints it. One that is an integer, and exact, is one in Go too. */
export function goNumber(value: number | bigint): string {
  return typeof value === "bigint" || Number.isSafeInteger(value) ? String(value) : goFloat(value);
}

/** A float as Go's `%v` prints it: exponents have two digits, and start below 1e-4 and at 1e+06. */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(value);
}

/** JSON as Go marshals it: keys sorted, `<`, `>` and `&` escaped. */
export function goJson(value: Json): string {
  if (typeof value === "string") {
    return JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => `${goJson(key)}:${goJson(value[key] as Json)}`);
    return `{${fields.join(",")}}`;
  }
  return stringify(value);
}

/** A rejected value as the API server shows it after `Invalid value: `. */
export function shownValue(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number" || typeof value === "bigint") return goNumber(value);
  return goJson(value);
}
