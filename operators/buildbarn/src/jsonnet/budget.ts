import { JsonnetError, type Location } from "./location.ts";

/** Far more than any configuration takes, and a fraction of a second. */
const mostSteps = 1_000_000;
/** As the jsonnet of Buildbarn's programs allows. */
const deepestCall = 500;

/** What an evaluation may use: files of users must not be able to hold up the operator. */
export class Budget {
  #steps = 0;
  #depth = 0;

  /** @throws JsonnetError once there were too many. */
  step(at: Location, count = 1): void {
    this.#steps += count;
    if (this.#steps > mostSteps) throw new JsonnetError(at, `this takes more than ${mostSteps} steps`);
  }

  /** Runs the body of a function. @throws JsonnetError where calls are nested too deeply. */
  nested<T>(at: Location, body: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepestCall) throw new JsonnetError(at, "calls are nested too deeply");
    try {
      return body();
    } finally {
      this.#depth -= 1;
    }
  }
}
