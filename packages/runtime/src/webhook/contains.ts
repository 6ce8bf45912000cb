import { isRecord } from "@windlass/kinds/json";

/**
 * Whether an object has all fields that are wanted of it, whatever else it has. Items of lists that
 * have a name are found by it, others by their place; a list must be as long as it is wanted,
 * unless its items have names. Servers leave out what is empty, so that counts as there.
 */
export function contains(live: unknown, wanted: unknown): boolean {
  if (wanted === live || wanted === undefined) return true;
  if (live === undefined) return typeof wanted === "object" && Object.keys(wanted ?? {}).length === 0;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live)) return false;
    if (wanted.every(hasName))
      return wanted.every((item) =>
        contains(
          live.find((other) => hasName(other) && other.name === item.name),
          item,
        ),
      );
    return wanted.length === live.length && wanted.every((item, index) => contains(live[index], item));
  }
  if (!isRecord(wanted) || !isRecord(live)) return false;
  return Object.entries(wanted).every(([key, field]) => contains(live[key], field));
}

function hasName(item: unknown): item is { readonly name: string } {
  return isRecord(item) && typeof item.name === "string";
}
