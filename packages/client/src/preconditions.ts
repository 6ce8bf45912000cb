import type { Preconditions } from "./verbs.ts";

/**
 * The preconditions of a delete as they are sent: those that were given, and nothing else of an
 * object's metadata.
 *
 * @throws TypeError if one is undefined: any object of the name would be deleted.
 */
export function sendablePreconditions(given: Preconditions): Preconditions {
  const sent: { -readonly [Field in keyof Preconditions]: string } = {};
  for (const field of ["uid", "resourceVersion"] as const) {
    if (!(field in given)) continue;
    const value = given[field];
    if (value === undefined)
      throw new TypeError(
        `preconditions.${field} is undefined, so nothing would be compared; take it from an object as the server or the cache gave it, or leave it out`,
      );
    sent[field] = value;
  }
  return sent;
}
