import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { OwnedList } from "./owned-list.ts";

/**
 * What is wanted without the maps that become empty: those that are wanted empty and of which
 * fields are owned.
 *
 * The server makes a null of a map when it takes the last field out of it that its applier owned,
 * and refuses that null in a custom resource. A map that is not applied at all it removes, so that
 * it can be applied empty afterwards.
 *
 * @returns the same object if there is no such map.
 */
export function withoutEmptied<T extends Readonly<Record<string, unknown>>>(wanted: T, fields: FieldsV1): T {
  let result = wanted;
  for (const [key, value] of Object.entries(wanted)) {
    const below = fields[`f:${key}`];
    const kept = below === undefined ? value : withoutEmptiedIn(value, below);
    if (kept === value) continue;
    const { [key]: _, ...rest } = result;
    result = (kept === undefined ? rest : { ...result, [key]: kept }) as T;
  }
  return result;
}

/** Undefined if the value is such a map itself. */
function withoutEmptiedIn(wanted: unknown, fields: FieldsV1): unknown {
  if (Object.keys(fields).length === 0) return wanted;
  if (isRecord(wanted)) return Object.keys(wanted).length === 0 ? undefined : withoutEmptied(wanted, fields);
  if (!Array.isArray(wanted)) return wanted;
  const list = new OwnedList(fields);
  const items = wanted.map((item) => {
    const below = list.get(list.idOf(item));
    return below !== undefined && isRecord(item) ? withoutEmptied(item, below) : item;
  });
  return items.every((item, index) => item === wanted[index]) ? wanted : items;
}
