import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@windlass/kinds/json";

/** A place where two answers part. */
export interface Difference {
  /** Such as `body.metadata.labels.a`. */
  readonly at: string;
  readonly real: unknown;
  readonly ours: unknown;
}

/** Where two values part, as deep down as possible. */
export function differences(real: unknown, ours: unknown, at = ""): Difference[] {
  if (isDeepStrictEqual(real, ours)) return [];
  if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    return real.flatMap((item, index) => differences(item, ours[index], `${at}[${index}]`));
  }
  if (isRecord(real) && isRecord(ours)) {
    return [...new Set([...Object.keys(real), ...Object.keys(ours)])].flatMap((key) =>
      differences(real[key], ours[key], at === "" ? key : `${at}.${key}`),
    );
  }
  return [{ at, real, ours }];
}

/** A difference for people, cut to what a line holds. */
export function show({ at, real, ours }: Difference, width = 600): string {
  const cut = (value: unknown) => {
    const text = value === undefined ? "nothing" : JSON.stringify(value);
    return text.length > width ? `${text.slice(0, width)}…` : text;
  };
  return `    ${at}\n      real ${cut(real)}\n      ours ${cut(ours)}`;
}
