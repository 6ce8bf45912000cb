import { type Json, stringify } from "../json.ts";
import { goQuote } from "../schema/go-text.ts";
import type { Cause } from "../status.ts";

/**
 * Collects what is wrong with an object, in the real server's reasons and words. Paths are written
 * as clients read them.
 */
export class Faults {
  readonly causes: Cause[] = [];

  get none(): boolean {
    return this.causes.length === 0;
  }

  required(field: string, why = ""): void {
    this.#add("FieldValueRequired", field, withReason("Required value", why));
  }

  invalid(field: string, value: Json | undefined, why: string): void {
    this.#add("FieldValueInvalid", field, withReason(`Invalid value: ${shown(value)}`, why));
  }

  /** For values that the real server does not show. */
  invalidUnshown(field: string, why: string): void {
    this.#add("FieldValueInvalid", field, withReason("Invalid value", why));
  }

  unsupported(field: string, value: Json | undefined, supported: readonly string[]): void {
    const list = supported.map(goQuote).join(", ");
    const why = supported.length === 0 ? "" : `supported values: ${list}`;
    this.#add("FieldValueNotSupported", field, withReason(`Unsupported value: ${shown(value)}`, why));
  }

  duplicate(field: string, value: Json, why = ""): void {
    this.#add("FieldValueDuplicate", field, withReason(`Duplicate value: ${shown(value)}`, why));
  }

  forbidden(field: string, why: string): void {
    this.#add("FieldValueForbidden", field, withReason("Forbidden", why));
  }

  tooLong(field: string, most: number): void {
    this.#add("FieldValueTooLong", field, `Too long: may not be more than ${most} bytes`);
  }

  tooMany(field: string, count: number, most: number): void {
    const items = most === 1 ? "item" : "items";
    this.#add("FieldValueTooMany", field, `Too many: ${count}: must have at most ${most} ${items}`);
  }

  notFound(field: string, value: Json, why = ""): void {
    this.#add("FieldValueNotFound", field, withReason(`Not found: ${shown(value)}`, why));
  }

  internal(field: string, why: string): void {
    this.#add("InternalError", field, withReason("Internal error", why));
  }

  /** One fault for each thing a check of a text has to say. */
  each(field: string, value: Json, complaints: readonly string[]): void {
    for (const why of complaints) this.invalid(field, value, why);
  }

  /** @param least what the value must not fall below. @default 0 */
  atLeast(field: string, value: Json | undefined, least = 0): void {
    if (typeof value === "number" && value < least) {
      this.invalid(field, value, `must be greater than or equal to ${least}`);
    }
  }

  /** Refuses what is not one of the supported values. */
  oneOf(field: string, value: string, supported: readonly string[]): void {
    if (!supported.includes(value)) this.unsupported(field, value, supported);
  }

  #add(reason: string, field: string, message: string): void {
    this.causes.push({ reason, message, field });
  }
}

function withReason(what: string, why: string): string {
  return why === "" ? what : `${what}: ${why}`;
}

function shown(value: Json | undefined): string {
  if (typeof value === "string") return goQuote(value);
  // Keys stay in the order of their Go type, which is the order they come in.
  return stringify(value ?? null).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The words for fields that may not change. */
export const immutable = "field is immutable";
