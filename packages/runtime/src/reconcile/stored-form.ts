import { isRecord } from "@windlass/kinds/json";
import { parseQuantity, QuantityError } from "@windlass/kinds/quantity";

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
  const amount = amountOf(wanted);
  return amount !== undefined && amount === amountOf(live);
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

/** The amount that a quantity stands for, or undefined for a value that is not a quantity. */
function amountOf(value: unknown): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  // Most texts that differ are not quantities.
  if (!/^[-+.\d]/.test(text)) return undefined;
  try {
    return parseQuantity(text).nanos;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}
