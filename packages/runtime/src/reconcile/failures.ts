import { deniedAccess, type ObjectKey } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { combined, type LogDecision, type LogHistory, LogThrottle, step } from "../logging/log-throttle.ts";
import { keyId } from "./client.ts";
import { causesOf } from "./errors.ts";

/**
 * The first retries come within milliseconds, and have nothing to add. Later ones may come often,
 * by what the object waits for.
 */
const objectPauses = { firstMs: 1_000, longestMs: 600_000 };

/**
 * Remembers which failures were logged, so that the first of equal ones comes with its stack and
 * the others do not. A missing right is one cause, however many objects it affects.
 *
 * Keeps one line for each object that fails, and none for those that do not.
 */
export class Failures {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #byObject = new Map<string, { readonly message: string; readonly history: LogHistory }>();
  readonly #rights: LogThrottle;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#rights = new LogThrottle(clock);
  }

  note(key: ObjectKey, error: unknown, message: string): LogDecision {
    const denied = causesOf(error).map(deniedAccess);
    const rights = denied.filter((right) => right !== undefined);
    // If something else is wrong as well, that is the object's own affair.
    if (rights.length === denied.length)
      return combined(rights.map((right) => this.#rights.record(nameOf(right))));
    const id = keyId(key);
    const known = this.#byObject.get(id);
    const before = known?.message === message ? known.history : undefined;
    const { history, decision } = step(before, this.#clock.monotonic(), objectPauses);
    this.#byObject.set(id, { message, history });
    return decision;
  }

  /** The object was reconciled, or no longer exists. */
  settle(key: ObjectKey): void {
    if (this.#byObject.size > 0) this.#byObject.delete(keyId(key));
  }
}

/** One namespace in which it is missing: who grants it will look at the others. */
function nameOf({ verb, resource, group }: NonNullable<ReturnType<typeof deniedAccess>>): string {
  return `${verb} ${resource}.${group}`;
}
