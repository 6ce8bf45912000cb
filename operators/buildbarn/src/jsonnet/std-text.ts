import { createHash } from "node:crypto";
import { format } from "./format.ts";
import { manifest, plain } from "./manifest.ts";
import type { Call, StandardFunction } from "./std-call.ts";
import { numberText, textOf } from "./text.ts";
import type { ArrayValue, Value } from "./values.ts";

/** Apart, because every object has a `toString`, from which the compiler takes its type. */
const toText: StandardFunction = ["a", (call) => textOf(call.value(0), call.at)];

/** The functions of the library that work on text. */
export const textFunctions: Readonly<Record<string, StandardFunction>> = {
  toString: toText,
  codepoint: ["str", (call) => call.string(0).codePointAt(0) ?? 0],
  char: ["n", (call) => String.fromCodePoint(call.number(0))],
  substr: [
    "str from len",
    (call) => {
      const from = call.number(1);
      return Array.from(call.string(0))
        .slice(from, from + call.number(2))
        .join("");
    },
  ],
  findSubstr: ["pat str", (call) => call.list(occurrences(call.string(0), call.string(1)))],
  startsWith: ["a b", (call) => call.string(0).startsWith(call.string(1))],
  endsWith: ["a b", (call) => call.string(0).endsWith(call.string(1))],
  stripChars: ["str chars", (call) => strip(call, "both")],
  lstripChars: ["str chars", (call) => strip(call, "left")],
  rstripChars: ["str chars", (call) => strip(call, "right")],
  trim: ["str", (call) => call.string(0).trim()],
  isEmpty: ["str", (call) => call.string(0) === ""],
  split: ["str c", (call) => call.list(call.string(0).split(call.string(1)))],
  splitLimit: ["str c maxsplits", splitLimit],
  strReplace: ["str from to", (call) => call.string(0).replaceAll(call.string(1), () => call.string(2))],
  asciiUpper: ["str", (call) => call.string(0).replaceAll(/[a-z]/g, (one) => one.toUpperCase())],
  asciiLower: ["str", (call) => call.string(0).replaceAll(/[A-Z]/g, (one) => one.toLowerCase())],
  stringChars: ["str", (call) => call.list(Array.from(call.string(0)))],
  equalsIgnoreCase: ["str1 str2", (call) => call.string(0).toLowerCase() === call.string(1).toLowerCase()],
  format: ["str vals", (call) => format(call.string(0), call.value(1), call.at)],
  parseInt: ["str", (call) => digits(call, 10, /^-?[0-9]+$/)],
  parseOctal: ["str", (call) => digits(call, 8, /^[0-7]+$/)],
  parseHex: ["str", (call) => digits(call, 16, /^[0-9A-Fa-f]+$/)],
  parseJson: ["str", parseJson],
  escapeStringJson: ["str", (call) => JSON.stringify(textOf(call.value(0), call.at))],
  escapeStringBash: ["str", (call) => `'${textOf(call.value(0), call.at).replaceAll("'", `'"'"'`)}'`],
  manifestJson: ["value", (call) => indented(call, "    ", "\n", ": ")],
  manifestJsonEx: [
    "value indent newline? key_val_sep?",
    (call) =>
      indented(
        call,
        call.string(1),
        call.has(2) ? call.string(2) : "\n",
        call.has(3) ? call.string(3) : ": ",
      ),
  ],
  manifestJsonMinified: ["value", (call) => indented(call, "", "", ":")],
  base64: ["input", (call) => Buffer.from(bytesOf(call)).toString("base64")],
  base64Decode: ["str", (call) => Buffer.from(call.string(0), "base64").toString("latin1")],
  md5: ["s", (call) => createHash("md5").update(call.string(0)).digest("hex")],
  sha256: ["s", (call) => createHash("sha256").update(call.string(0)).digest("hex")],
};

function occurrences(pattern: string, text: string): readonly number[] {
  const found: number[] = [];
  if (pattern === "") return found;
  for (let index = text.indexOf(pattern); index >= 0; index = text.indexOf(pattern, index + 1))
    found.push(index);
  return found;
}

function strip(call: Call, side: "left" | "right" | "both"): string {
  const characters = new Set(call.string(1));
  const text = Array.from(call.string(0));
  let from = 0;
  let to = text.length;
  if (side !== "right") while (from < to && characters.has(text[from] ?? "")) from += 1;
  if (side !== "left") while (to > from && characters.has(text[to - 1] ?? "")) to -= 1;
  return text.slice(from, to).join("");
}

function splitLimit(call: Call): ArrayValue {
  const separator = call.string(1);
  const parts = call.string(0).split(separator);
  const most = call.number(2);
  if (most < 0 || parts.length <= most + 1) return call.list(parts);
  return call.list([...parts.slice(0, most), parts.slice(most).join(separator)]);
}

function digits(call: Call, base: number, pattern: RegExp): number {
  const text = call.string(0);
  if (!pattern.test(text)) throw call.fault(`${JSON.stringify(text)} is no number to base ${base}`);
  return Number.parseInt(text, base);
}

function parseJson(call: Call): Value {
  let parsed: unknown;
  try {
    parsed = JSON.parse(call.string(0));
  } catch (error) {
    throw call.fault(error instanceof Error ? error.message : String(error));
  }
  return fromJson(call, parsed);
}

function fromJson(call: Call, json: unknown): Value {
  if (Array.isArray(json)) return call.list(json.map((one) => fromJson(call, one)));
  if (typeof json === "object" && json !== null)
    return call.record(Object.entries(json).map(([name, value]) => [name, () => fromJson(call, value)]));
  return json as null | boolean | number | string;
}

function indented(call: Call, indent: string, newline: string, colon: string): string {
  const write = (json: unknown, before: string): string => {
    const inner = before + indent;
    const wrap = (open: string, parts: readonly string[], close: string) =>
      `${open}${newline}${parts.map((part) => inner + part).join(`,${newline}`)}${newline}${before}${close}`;
    if (Array.isArray(json)) {
      if (json.length === 0) return `[${newline === "" ? "" : " "}]`;
      return wrap(
        "[",
        json.map((one) => write(one, inner)),
        "]",
      );
    }
    if (typeof json === "object" && json !== null) {
      const fields = Object.entries(json);
      if (fields.length === 0) return `{${newline === "" ? "" : " "}}`;
      return wrap(
        "{",
        fields.map(([name, one]) => `${JSON.stringify(name)}${colon}${write(one, inner)}`),
        "}",
      );
    }
    return typeof json === "number" ? numberText(json) : JSON.stringify(json);
  };
  return write(plain(manifest(call.value(0), call.at)), "");
}

function bytesOf(call: Call): Uint8Array {
  const value = call.value(0);
  if (typeof value === "string") return new TextEncoder().encode(value);
  return Uint8Array.from(call.array(0), (item) => Number(item.value));
}
