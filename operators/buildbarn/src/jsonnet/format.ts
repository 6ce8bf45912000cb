import { JsonnetError, type Location } from "./location.ts";
import { textOf } from "./text.ts";
import { ArrayValue, ObjectValue, typeOf, type Value } from "./values.ts";

const directive =
  /%(?:\((?<name>[^)]*)\))?(?<flags>[#0\- +]*)(?<width>\*|\d*)(?:\.(?<precision>\*|\d+))?[hlL]?(?<code>[diouxXeEfFgGcrs%])/g;

/** `std.format`: as Python's `%` on strings. */
export function format(template: string, given: Value, at: Location): string {
  const items = given instanceof ArrayValue ? given.items.map((item) => item.value) : [given];
  let next = 0;
  const take = (): Value => {
    const item = items[next];
    next += 1;
    if (item === undefined) throw new JsonnetError(at, "there are fewer values than the format asks for");
    return item;
  };
  const amount = (text: string | undefined): number | undefined => {
    if (text === undefined || text === "") return undefined;
    return text === "*" ? number(take(), at) : Number(text);
  };
  const said = template.replaceAll(directive, (...match) => {
    const {
      name,
      flags = "",
      width,
      precision,
      code = "",
    } = match.at(-1) as Record<string, string | undefined>;
    if (code === "%") return "%";
    const wide = amount(width) ?? 0;
    const digits = amount(precision);
    const value = name === undefined ? take() : field(given, name, at);
    return pad(convert(code, value, digits, flags, at), wide, flags, "diouxXeEfFgG".includes(code));
  });
  if (given instanceof ArrayValue && next < items.length)
    throw new JsonnetError(at, "there are more values than the format asks for");
  return said;
}

function field(given: Value, name: string, at: Location): Value {
  const value = given instanceof ObjectValue ? given.get(name) : undefined;
  if (value === undefined) throw new JsonnetError(at, `there is no field ${name} for the format`);
  return value;
}

function number(value: Value, at: Location): number {
  if (typeof value === "number") return value;
  throw new JsonnetError(at, `the format needs a number, and this is a ${typeOf(value)}`);
}

function convert(
  code: string,
  value: Value,
  digits: number | undefined,
  flags: string,
  at: Location,
): string {
  switch (code) {
    case "s":
    case "r":
      return textOf(value, at).slice(0, digits);
    case "c":
      return typeof value === "string" ? value : String.fromCodePoint(number(value, at));
    case "d":
    case "i":
    case "u":
      return signed(BigInt(Math.trunc(number(value, at))).toString(), flags, digits);
    case "o":
      return signed(BigInt(Math.trunc(number(value, at))).toString(8), flags, digits);
    case "x":
      return signed(BigInt(Math.trunc(number(value, at))).toString(16), flags, digits);
    case "X":
      return signed(
        BigInt(Math.trunc(number(value, at)))
          .toString(16)
          .toUpperCase(),
        flags,
        digits,
      );
    case "e":
    case "E": {
      const text = exponent(number(value, at).toExponential(digits ?? 6));
      return signed(code === "E" ? text.toUpperCase() : text, flags, undefined);
    }
    case "f":
    case "F":
      return signed(number(value, at).toFixed(digits ?? 6), flags, undefined);
    default: {
      const text = String(Number(number(value, at).toPrecision(Math.max(1, digits ?? 6))));
      return signed(code === "G" ? text.toUpperCase() : text, flags, undefined);
    }
  }
}

/** Python writes at least two digits of an exponent. */
function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function signed(text: string, flags: string, digits: number | undefined): string {
  const isNegative = text.startsWith("-");
  const plain = (isNegative ? text.slice(1) : text).padStart(digits ?? 0, "0");
  const sign = isNegative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return sign + plain;
}

function pad(text: string, width: number, flags: string, isNumber: boolean): string {
  if (flags.includes("-")) return text.padEnd(width);
  if (!flags.includes("0") || !isNumber) return text.padStart(width);
  const sign = /^[+\- ]/.exec(text)?.[0] ?? "";
  return sign + text.slice(sign.length).padStart(width - sign.length, "0");
}
