import type { Status, StatusCause } from "@windlass/client";

/** What is wrong with a field, in the API's own words for programs. */
export type FieldReason =
  | "FieldValueInvalid"
  | "FieldValueRequired"
  | "FieldValueForbidden"
  | "FieldValueDuplicate"
  | "FieldValueNotSupported";

/**
 * A "no" of an admission webhook, to be returned or thrown. Make one with {@link invalid} or
 * {@link deny}. Any other error that a handler throws means that the webhook failed, not that it
 * decided.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The HTTP status that the requester gets. */
  readonly code: number;
  /** One word for programs, e.g. `Invalid`, `Forbidden`. */
  readonly reason: string;
  /** The field at fault; absent for a refusal of the request as a whole. */
  readonly field: string | undefined;
  readonly fieldReason: FieldReason | undefined;

  constructor(
    message: string,
    what: {
      readonly code: number;
      readonly reason: string;
      readonly field?: string;
      readonly fieldReason?: FieldReason;
    },
  ) {
    super(message);
    this.code = what.code;
    this.reason = what.reason;
    this.field = what.field;
    this.fieldReason = what.fieldReason;
  }
}

/**
 * Refuses a field: 422 with the field in its causes, as the API server itself does for a schema.
 *
 * @param field as a path: `spec.ports[0].name`
 * @param message what is wrong and what would be right
 * @param reason @default "FieldValueInvalid"
 * @example
 * return [invalid("spec.image", "must have a tag, such as nginx:1.29")];
 */
export function invalid(field: string, message: string, reason: FieldReason = "FieldValueInvalid"): Refusal {
  return new Refusal(message, { code: 422, reason: "Invalid", field, fieldReason: reason });
}

/**
 * Refuses the request as a whole: 403, unless told otherwise.
 *
 * @example
 * if (!user.groups.includes("platform")) throw deny("only the platform team may delete a WebApp in production");
 */
export function deny(
  message: string,
  { code = 403, reason = "Forbidden" }: { readonly code?: number; readonly reason?: string } = {},
): Refusal {
  return new Refusal(message, { code, reason });
}

/** What a Status says the refusals are about. */
export interface Subject {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/**
 * Several refusals as the one Status that is answered. A refusal of the whole comes before those of
 * fields.
 */
export function statusFor(refusals: readonly Refusal[], subject: Subject): Status {
  const { group, kind, name } = subject;
  const whole = refusals.filter(({ field }) => field === undefined);
  const causes: readonly StatusCause[] = refusals.flatMap(({ field, fieldReason, message }) =>
    field === undefined ? [] : [{ field, message, ...(fieldReason ? { reason: fieldReason } : {}) }],
  );
  const details = {
    ...(name === "" ? {} : { name }),
    group,
    kind,
    ...(causes.length === 0 ? {} : { causes }),
  };
  const [first] = whole;
  if (first) {
    return {
      status: "Failure",
      code: first.code,
      reason: first.reason,
      message: refusals.map(wordsFor).join("; "),
      details,
    };
  }
  const faults = refusals.map(wordsFor);
  const list = faults.length === 1 ? faults.join() : `[${faults.join(", ")}]`;
  const what = group === "" ? kind : `${kind}.${group}`;
  return {
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: `${what} ${JSON.stringify(name)} is invalid: ${list}`,
    details,
  };
}

function wordsFor({ field, message }: Refusal): string {
  return field === undefined ? message : `${field}: ${message}`;
}
