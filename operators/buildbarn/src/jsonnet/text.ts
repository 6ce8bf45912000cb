import type { Location } from "./location.ts";
import { manifest, plain } from "./manifest.ts";
import { ArrayValue, FunctionValue, ObjectValue, type Value } from "./values.ts";

/** A value as text, as `std.toString` gives it. */
export function textOf(value: Value, at: Location): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  if (value instanceof ArrayValue || value instanceof ObjectValue || value instanceof FunctionValue)
    return spaced(plain(manifest(value, at)));
  return String(value);
}

/** A number as jsonnet writes it: whole ones with all their digits. */
export function numberText(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString();
  return String(Number(value.toPrecision(17)));
}

/** JSON in one line with a space after commas and colons. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return json.length === 0 ? "[ ]" : `[${json.map(spaced).join(", ")}]`;
  if (typeof json === "object" && json !== null) {
    const fields = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`);
    return fields.length === 0 ? "{ }" : `{${fields.join(", ")}}`;
  }
  return typeof json === "number" ? numberText(json) : JSON.stringify(json);
}
