import type { JsonPatchOperation } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";

/** The operations of a JSON Patch that an admission answer needs: no moves, no copies. */
export type PatchOperation = Extract<
  JsonPatchOperation,
  { readonly op: "add" | "replace" | "remove" | "test" }
>;

/**
 * The JSON Patch (RFC 6902) that makes `after` of `before`: nothing for what is equal, and of a
 * list only the part that differs. Both must be plain JSON; keys such as `__proto__` are keys like
 * any other.
 */
export function jsonPatch(before: unknown, after: unknown): readonly PatchOperation[] {
  const operations: PatchOperation[] = [];
  compare(before, after, "", operations);
  return operations;
}

function compare(before: unknown, after: unknown, path: string, operations: PatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, operations);
  else if (isRecord(before) && isRecord(after)) compareObjects(before, after, path, operations);
  else operations.push({ op: "replace", path, value: after });
}

function compareObjects(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: string,
  operations: PatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    const at = `${path}/${escaped(key)}`;
    if (Object.hasOwn(after, key)) compare(before[key], after[key], at, operations);
    else operations.push({ op: "remove", path: at });
  }
  for (const key of Object.keys(after))
    if (!Object.hasOwn(before, key))
      operations.push({ op: "add", path: `${path}/${escaped(key)}`, value: after[key] });
}

/**
 * What both lists begin and end with stays; between, items are changed in place, then taken out or
 * put in.
 */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  operations: PatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(before[before.length - 1 - tail], after[after.length - 1 - tail]))
    tail += 1;
  const inPlace = shorter - head - tail;
  for (let index = head; index < head + inPlace; index += 1)
    compare(before[index], after[index], `${path}/${index}`, operations);
  for (let index = before.length - tail - 1; index >= head + inPlace; index -= 1)
    operations.push({ op: "remove", path: `${path}/${index}` });
  for (let index = head + inPlace; index < after.length - tail; index += 1)
    operations.push({ op: "add", path: `${path}/${index}`, value: after[index] });
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const found: PatchOperation[] = [];
  compare(a, b, "", found);
  return found.length === 0;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
