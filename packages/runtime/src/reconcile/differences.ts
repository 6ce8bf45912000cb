import { isRecord } from "@windlass/kinds/json";

/**
 * The paths at which two states of an object differ. Lists are compared place by place. For people:
 * it decides nothing.
 */
export function differences(before: unknown, after: unknown, path = ""): readonly string[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, index) => differences(before[index], item, `${path}[${index}]`));
  if (!isRecord(before) || !isRecord(after)) return [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    differences(before[key], after[key], path === "" ? key : `${path}.${key}`),
  );
}
