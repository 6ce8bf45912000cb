import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { OwnedList } from "./owned-list.ts";

/**
 * The part of a live value that a field manager owns: what it applied, as it is now. Undefined if
 * it owns nothing of it.
 */
export function ownedPart(live: unknown, fields: FieldsV1): unknown {
  if (Object.keys(fields).length === 0 || live === undefined) return live;
  if (isRecord(live))
    return Object.fromEntries(
      Object.entries(fields).flatMap(([element, below]) => {
        const key = element.slice(2);
        return element.startsWith("f:") && Object.hasOwn(live, key)
          ? [[key, ownedPart(live[key], below)] as const]
          : [];
      }),
    );
  if (!Array.isArray(live)) return undefined;
  const list = new OwnedList(fields);
  return live.flatMap((item) => {
    const below = list.get(list.liveIdOf(item));
    return below === undefined ? [] : [ownedPart(item, below)];
  });
}
