import { isRecord } from "@windlass/kinds/json";
import { $ZodCheck } from "zod/v4/core";
import type { StructuralSchema, ValidationRule } from "./structural.ts";

/** What a marker adds to the schema of the field it is put on. */
type Mark =
  | { readonly kind: "rule"; readonly rule: ValidationRule }
  | { readonly kind: "keywords"; readonly keywords: Partial<StructuralSchema> }
  | { readonly kind: "atomic" };

/** A zod check that stands for something Kubernetes enforces. Give it to `.check(…)`. */
export type Marker<T = unknown> = $ZodCheck<T>;

const marks = new WeakMap<object, Mark>();

/** The mark that a check carries, if it is one of ours. */
export function markOf(check: object): Mark | undefined {
  return marks.get(check);
}

function marker<T>(mark: Mark, enforce: (value: T) => string | undefined = () => undefined): Marker<T> {
  const check: $ZodCheck<T> = new $ZodCheck({ check: "custom" });
  check._zod.check = (payload) => {
    const fault = enforce(payload.value);
    if (fault !== undefined) {
      payload.issues.push({ code: "custom", message: fault, input: payload.value, path: [] });
    }
  };
  marks.set(check, mark);
  return check;
}

/** What a CEL rule has besides its expression. */
export interface CelOptions extends Omit<ValidationRule, "rule"> {}

/**
 * A CEL rule that the API server enforces on this field. `self` is the field's value; a rule that
 * names `oldSelf` runs on updates only (a transition rule). Zod does not evaluate it.
 *
 * @example
 * z.object({ min: z.int(), max: z.int() }).check(cel("self.min <= self.max", "min must not exceed max"))
 */
export function cel(rule: string, message?: string | CelOptions): Marker {
  const options = typeof message === "string" ? { message } : (message ?? {});
  return marker({ kind: "rule", rule: { rule, ...options } });
}

/**
 * Refuses changes to a field once it is set. Put it on a required or defaulted field: one that is
 * optional can still be removed and set again, since a transition rule runs only where there is an
 * old and a new value.
 *
 * @example
 * z.object({ storageClass: z.string().check(immutable()) })
 */
export function immutable(message = "cannot be changed once set"): Marker {
  return cel("self == oldSelf", message);
}

/**
 * A list whose items are distinguished by these fields: server-side apply merges it item by item,
 * and two items with the same keys are refused. The keys must be scalars, required or defaulted.
 *
 * @example
 * z.array(z.object({ name: z.string(), value: z.string() })).check(listMap("name"))
 */
export function listMap(...keys: [string, ...string[]]): Marker<readonly unknown[]> {
  return marker(
    {
      kind: "keywords",
      keywords: { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys },
    },
    (items) => {
      const identities = items.map((item) =>
        JSON.stringify(keys.map((key) => (isRecord(item) && Object.hasOwn(item, key) ? item[key] : null))),
      );
      return duplicated(identities) ? `two items have the same ${keys.join(" and ")}` : undefined;
    },
  );
}

/** A list of scalars without repetition: server-side apply merges it value by value. */
export function listSet(): Marker<readonly unknown[]> {
  return marker({ kind: "keywords", keywords: { "x-kubernetes-list-type": "set" } }, (items) =>
    duplicated(items.map((item) => JSON.stringify(item))) ? "two items are equal" : undefined,
  );
}

/** A list or an object that server-side apply replaces as a whole: one manager owns all of it. */
export function atomic(): Marker {
  return marker({ kind: "atomic" });
}

function duplicated(values: readonly string[]): boolean {
  return new Set(values).size !== values.length;
}
