import { isRecord } from "../record.ts";

/**
 * Whether a live value may be what the server stored for a wanted one: it fills in defaults, and
 * has one spelling for each quantity. Only for values that are known to have been applied as they
 * are wanted: `{}` may be stored as anything.
 */
export function isStoredForm(wanted: unknown, live: unknown): boolean {
  if (wanted === live) return true;
  if (live === undefined) return false;
  if (wanted === null || wanted === "") return true;
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) &&
      wanted.length === live.length &&
      wanted.every((item, index) => isStoredForm(item, live[index]))
    );
  // Within what is stored as a whole, nothing but the server leaves out what is empty.
  if (isRecord(wanted))
    return (
      isRecord(live) && Object.entries(wanted).every(([key, field]) => isStoredFormOrEmpty(field, live[key]))
    );
  const amount = quantity(wanted);
  return amount !== undefined && amount === quantity(live);
}

/**
 * Whether a live value may be what the server stored for a wanted one, which it leaves out or
 * replaces if it is empty.
 */
export function isStoredFormOrEmpty(wanted: unknown, live: unknown): boolean {
  return isEmpty(wanted) || isStoredForm(wanted, live);
}

/**
 * Whether a live value may be what admission made of a wanted one: it adds items to lists, as it
 * adds tolerations to pods. Only for values that are known to have been applied as they are wanted,
 * and of which nobody else has taken the ownership since.
 */
export function isAdmittedForm(wanted: unknown, live: unknown): boolean {
  const compared = Array.isArray(wanted) && Array.isArray(live) ? live.slice(0, wanted.length) : live;
  return isStoredFormOrEmpty(wanted, compared);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

const factors: ReadonlyMap<string, number> = new Map([
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const),
  ["n", 1e-9],
  ["u", 1e-6],
  ["m", 1e-3],
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
]);

/** The number that a quantity stands for, to twelve digits, or undefined if it is none. */
function quantity(value: unknown): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(value));
  const factor = match && factors.get(match[2] ?? "");
  return match && factor ? Number((Number(match[1]) * factor).toPrecision(12)) : undefined;
}
