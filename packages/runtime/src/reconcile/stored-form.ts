import { isRecord } from "@windlass/kinds/json";
import { formatQuantity, parseQuantity, QuantityError, roundUpToMilli } from "@windlass/kinds/quantity";

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
  return isQuantityOf(wanted, live);
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
 * and of which no other manager has taken the ownership since.
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

/**
 * Whether a live value is the server's spelling of a quantity that is wanted in another. One that
 * is not spelt as the server spells them is another text; and a number that the server keeps as a
 * number is kept as it is.
 */
function isQuantityOf(wanted: unknown, live: unknown): boolean {
  if (typeof live !== "string" || (typeof wanted !== "string" && typeof wanted !== "number")) return false;
  const text = String(wanted);
  // Most texts that differ are not quantities.
  if (!/^[-+.\d]/.test(text)) return false;
  try {
    const amount = parseQuantity(text);
    return live === formatQuantity(amount) || live === formatQuantity(roundUpToMilli(amount));
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}
