import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { canonical } from "./json.ts";

/**
 * How the model tells the items of a list apart; undefined where it does not, and the list is one
 * value.
 */
export function itemKey(item: unknown): readonly [name: string, value: string] | undefined {
  if (!isRecord(item)) return undefined;
  for (const name of ["name", "type", "uid"])
    if (typeof item[name] === "string") return [name, item[name] as string];
  return undefined;
}

/** The fields that an applied configuration owns. */
export function fieldsOf({ metadata, ...content }: Readonly<Record<string, unknown>>): FieldsV1 {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = content;
  const {
    name: _name,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    ...tracked
  } = isRecord(metadata) ? metadata : {};
  return fieldsIn(Object.keys(tracked).length > 0 ? { ...rest, metadata: tracked } : rest);
}

function fieldsIn(value: unknown): FieldsV1 {
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [`f:${key}`, fieldsIn(field)]));
  if (!isKeyed(value)) return {};
  return Object.fromEntries(value.map((item) => [elementOf(item), { ".": {}, ...fieldsIn(item) }]));
}

/** What is left of the fields that a manager owns when another client changes the object. */
export function fieldsLeft(fields: FieldsV1, before: unknown, after: unknown): FieldsV1 | undefined {
  const elements = Object.entries(fields);
  if (elements.length === 0) return canonical(before) === canonical(after) ? fields : undefined;
  const left = elements.flatMap(([element, below]) => {
    if (element === ".") return after === undefined ? [] : [[element, below] as const];
    const kept = fieldsLeft(below, partOf(before, element), partOf(after, element));
    return kept ? [[element, kept] as const] : [];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

function partOf(value: unknown, element: string): unknown {
  if (isRecord(value)) return value[element.slice(2)];
  return Array.isArray(value) ? value.find((item) => elementOf(item) === element) : undefined;
}

function isKeyed(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => itemKey(item) !== undefined);
}

function elementOf(item: unknown): string {
  return `k:${JSON.stringify(Object.fromEntries([itemKey(item) ?? []]))}`;
}
