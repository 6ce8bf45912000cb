import { deniedAccess, type ObjectKey } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { Reminders, step, type Telling, type Told, together } from "../logging/reminder.ts";
import { idOf } from "./client.ts";
import { causesOf } from "./errors.ts";

/** The first retries come within milliseconds, and have nothing to add. Later ones may come often, by what the object waits for. */
const objectPauses = { firstMs: 1_000, longestMs: 600_000 };

/**
 * Remembers which failures have been told, so that the first of equal ones comes with its stack and the others do not. A missing right is
 * one cause however many objects meet it.
 *
 * Keeps one line for each object that fails, and none for those that do not.
 */
export class Failures {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #byObject = new Map<string, { readonly message: string; readonly told: Told }>();
  readonly #rights: Reminders;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#rights = new Reminders(clock);
  }

  note(key: ObjectKey, error: unknown, message: string): Telling {
    const denied = causesOf(error).map(deniedAccess);
    const rights = denied.filter((right) => right !== undefined);
    // If something else is wrong as well, that is the object's own affair.
    if (rights.length === denied.length)
      return together(rights.map((right) => this.#rights.met(nameOf(right))));
    const id = idOf(key);
    const known = this.#byObject.get(id);
    const before = known?.message === message ? known.told : undefined;
    const { told, telling } = step(before, this.#clock.monotonic(), objectPauses);
    this.#byObject.set(id, { message, told });
    return telling;
  }

  /** The object was reconciled, or is gone. */
  settle(key: ObjectKey): void {
    if (this.#byObject.size > 0) this.#byObject.delete(idOf(key));
  }
}

/** In whichever namespace it is missing: whoever grants it will look at the others. */
function nameOf({ verb, resource, group }: NonNullable<ReturnType<typeof deniedAccess>>): string {
  return `${verb} ${resource}.${group}`;
}
