import type { Json } from "../json.ts";
import type { Cause } from "../status.ts";
import { goQuote, shownValue } from "./go-text.ts";

// Each function builds one entry of a 422's `details.causes`, worded as the API server words it.
// `field` is a path such as `spec.ports[0].name`; the empty path is written `<nil>`, because that
// is what the real server answers for it.

function cause(reason: string, field: string, body: string, detail: string): Cause {
  return {
    reason,
    message: detail === "" ? body : `${body}: ${detail}`,
    field: field === "" ? "<nil>" : field,
  };
}

export function required(field: string, detail = ""): Cause {
  return cause("FieldValueRequired", field, "Required value", detail);
}

export function invalidValue(field: string, value: Json, detail: string): Cause {
  return cause("FieldValueInvalid", field, `Invalid value: ${shownValue(value)}`, detail);
}

/** As `invalidValue`, for a value that is shown in a form of its own. */
export function invalidShown(field: string, shown: string, detail: string): Cause {
  return cause("FieldValueInvalid", field, `Invalid value: ${shown}`, detail);
}

export function typeInvalid(field: string, value: Json, detail: string): Cause {
  return cause("FieldValueTypeInvalid", field, `Invalid value: ${shownValue(value)}`, detail);
}

export function notSupported(field: string, value: Json, supported: readonly string[]): Cause {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return cause("FieldValueNotSupported", field, `Unsupported value: ${shownValue(value)}`, detail);
}

export function forbiddenValue(field: string, detail: string): Cause {
  return cause("FieldValueForbidden", field, "Forbidden", detail);
}

export function duplicateValue(field: string, value: Json): Cause {
  return cause("FieldValueDuplicate", field, `Duplicate value: ${shownValue(value)}`, "");
}

export function tooLong(field: string, max: number): Cause {
  return cause(
    "FieldValueTooLong",
    field,
    "Too long",
    `may not be more than ${max} ${max === 1 ? "byte" : "bytes"}`,
  );
}

export function tooMany(field: string, actual: number, max: number): Cause {
  return cause(
    "FieldValueTooMany",
    field,
    `Too many: ${actual}`,
    `must have at most ${max} ${max === 1 ? "item" : "items"}`,
  );
}

/**
 * Faults after which CEL rules are not run: the values they would see may not have the declared
 * types or bounds.
 */
const BLOCKING = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Whether any of these faults keeps CEL rules from being evaluated. */
export function blocksRules(causes: readonly Cause[]): boolean {
  return causes.some(({ reason }) => reason !== undefined && BLOCKING.has(reason));
}

/** The cause that says rules were left out. */
export const RULES_SKIPPED: Cause = invalidValue(
  "",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);
