import { deniedAccess, type ObjectKey } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { idOf } from "./client.ts";

/** How a failure is to be told. */
export type Telling =
  /** For the first time: with all that helps to find it. */
  | { readonly as: "news" }
  /** The same of the same object once more. */
  | { readonly as: "repeat" }
  /** The same cause, of whatever objects: told after a while only, with how often it was met. */
  | { readonly as: "reminder"; readonly count: number }
  /** Told already, by another object or a moment ago. */
  | { readonly as: "known" };

/** How often a cause that many objects share is told again. */
const REMINDER_MS = 60_000;

/** The first retries come within milliseconds, and have nothing to add. */
const PAUSE_MS = 1_000;

/** How long the pause between two lines about the same grows, doubling: the object may be tried more often, by what it waits for. */
const LONGEST_PAUSE_MS = 600_000;

/**
 * Remembers which failures have been told, so that the first of equal ones comes with its stack and the others do not. A missing right is
 * one cause however many objects meet it.
 *
 * Keeps one line for each object that fails, and none for those that do not.
 */
export class Failures {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #byObject = new Map<string, { readonly message: string; toldAt: number; pauseMs: number }>();
  readonly #byRight = new Map<string, { toldAt: number; count: number }>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  note(key: ObjectKey, error: unknown, message: string): Telling {
    const right = deniedAccess(error);
    if (right) return this.#noteRight(Object.values(right).join(" "));
    const id = idOf(key);
    const now = this.#clock.monotonic();
    const known = this.#byObject.get(id);
    if (known?.message !== message) {
      this.#byObject.set(id, { message, toldAt: now, pauseMs: PAUSE_MS });
      return { as: "news" };
    }
    if (now - known.toldAt < known.pauseMs) return { as: "known" };
    known.toldAt = now;
    known.pauseMs = Math.min(2 * known.pauseMs, LONGEST_PAUSE_MS);
    return { as: "repeat" };
  }

  /** The object was reconciled, or is gone. */
  settle(key: ObjectKey): void {
    if (this.#byObject.size > 0) this.#byObject.delete(idOf(key));
  }

  #noteRight(right: string): Telling {
    const now = this.#clock.monotonic();
    const known = this.#byRight.get(right);
    if (!known) {
      this.#byRight.set(right, { toldAt: now, count: 1 });
      return { as: "news" };
    }
    known.count += 1;
    if (now - known.toldAt < REMINDER_MS) return { as: "known" };
    known.toldAt = now;
    return { as: "reminder", count: known.count };
  }
}
