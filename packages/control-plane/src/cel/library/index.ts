import type { Overload } from "../functions.ts";
import { ADDRESSES } from "./addresses.ts";
import { AUTHORIZATION } from "./authorizer.ts";
import { COLLECTIONS } from "./collections.ts";
import { NAMED_FORMATS } from "./named-formats.ts";
import { NUMBERS } from "./numbers.ts";
import { QUANTITIES } from "./quantity.ts";
import { SEMVERS } from "./semver.ts";
import { STRINGS } from "./strings.ts";
import { TIMES } from "./times.ts";
import { URLS } from "./urls.ts";

/** Every function an expression may call, by name. */
export type Library = ReadonlyMap<string, readonly Overload[]>;

export function libraryOf(overloads: Iterable<Overload>): Library {
  const library = new Map<string, Overload[]>();
  for (const overload of overloads) {
    const known = library.get(overload.name);
    if (known === undefined) library.set(overload.name, [overload]);
    else known.push(overload);
  }
  return library;
}

/** What Kubernetes 1.35 gives to every expression. */
export const KUBERNETES: Library = libraryOf([
  ...NUMBERS,
  ...STRINGS,
  ...COLLECTIONS,
  ...TIMES,
  ...QUANTITIES,
  ...ADDRESSES,
  ...URLS,
  ...SEMVERS,
  ...NAMED_FORMATS,
  ...AUTHORIZATION,
]);
