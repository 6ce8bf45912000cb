import { JsonnetError, type Location } from "./location.ts";
import { ArrayValue, FunctionValue, ObjectValue, type Value } from "./values.ts";

/** Plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** JSON that knows where each part of it was written. */
export type LocatedJson = { readonly at: Location } & (
  | { readonly kind: "scalar"; readonly value: null | boolean | number | string }
  | { readonly kind: "array"; readonly items: readonly LocatedJson[] }
  | { readonly kind: "object"; readonly fields: ReadonlyMap<string, LocatedField> }
);

/** A field of an object. */
export interface LocatedField {
  /** Where its name was written. */
  readonly at: Location;
  readonly value: LocatedJson;
}

/**
 * @throws JsonnetError for a function, which JSON cannot hold, and for assertions that do not hold.
 */
export function manifest(value: Value, at: Location): LocatedJson {
  if (value instanceof FunctionValue) throw new JsonnetError(at, "a function cannot be part of the result");
  if (value instanceof ArrayValue)
    return { kind: "array", at, items: value.items.map((item) => manifest(item.value, item.at)) };
  if (!(value instanceof ObjectValue)) return { kind: "scalar", at, value };
  value.check();
  const fields = value.names("shown").map((name) => {
    const place = value.locationOf(name) ?? at;
    return [name, { at: place, value: manifest(value.get(name) ?? null, place) }] as const;
  });
  return { kind: "object", at, fields: new Map(fields) };
}

/** The JSON without its places. */
export function plain(json: LocatedJson): Json {
  switch (json.kind) {
    case "scalar":
      return json.value;
    case "array":
      return json.items.map(plain);
    case "object":
      return Object.fromEntries([...json.fields].map(([name, { value }]) => [name, plain(value)]));
    default:
      return json satisfies never;
  }
}
