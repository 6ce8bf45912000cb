import { type Json, stringify } from "../json.ts";

const safe = "bcdfghjklmnpqrstvwxz2456789";

/**
 * A short name for a template, in the form the real controllers use. Theirs depends on how Go
 * prints structs, so the same template has another one there; any stable one serves.
 */
export function templateHash(template: Json, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(
    stringify(inOrder(template)) + (collisions === 0 ? "" : String(collisions)),
  )) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return Array.from(String(hash), (digit) => safe[digit.charCodeAt(0) % safe.length]).join("");
}

/** Keys sorted: the order in which a client wrote them has no meaning. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key] as Json)]),
  );
}
