import type { Observation } from "./stage.ts";

/** Distinguishes a resolver that restarts from one that is gone. */
export class ResolverPresence {
  readonly #graceMs: number;
  #missingSinceMs: number | undefined;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** What is to be made of the resolver, whether or not any replica of it is ready. */
  observe(isReady: boolean, nowMs: number): Observation["resolver"] {
    if (isReady) {
      this.#missingSinceMs = undefined;
      return "ready";
    }
    this.#missingSinceMs ??= nowMs;
    return nowMs - this.#missingSinceMs >= this.#graceMs ? "absent" : "restarting";
  }
}
