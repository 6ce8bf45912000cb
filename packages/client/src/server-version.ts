import type { Clock } from "@windlass/clock";
import { isRecord } from "@windlass/kinds/json";
import { TransportError } from "./errors.ts";

/** The Kubernetes version that a server speaks. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
}

/** All informers of built-in kinds wait for the answer, so it has less time than others. */
const TIMEOUT_MS = 10_000;

/**
 * Asks a server for its version when that is first wanted, and again only if there was no answer.
 */
export class VersionQuery {
  readonly #fetch: (signal: AbortSignal) => Promise<unknown>;
  readonly #clock: Clock;
  #answer: Promise<ServerVersion> | undefined;

  /** @param fetch gets the JSON at `/version`. */
  constructor(fetch: (signal: AbortSignal) => Promise<unknown>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** @throws TransportError with code TIMEOUT_HEADERS after ten seconds. */
  get(): Promise<ServerVersion> {
    this.#answer ??= this.#ask().catch((error: unknown) => {
      this.#answer = undefined;
      throw error;
    });
    return this.#answer;
  }

  async #ask(): Promise<ServerVersion> {
    const late = new AbortController();
    const cancel = this.#clock.schedule(TIMEOUT_MS, () =>
      late.abort(new TransportError("TIMEOUT_HEADERS", `GET /version: no answer within ${TIMEOUT_MS} ms`)),
    );
    try {
      const version = await this.#fetch(late.signal);
      const { major, minor } = isRecord(version) ? version : {};
      // Some vendors write a plus sign after the number.
      return { major: Number.parseInt(String(major), 10), minor: Number.parseInt(String(minor), 10) };
    } finally {
      cancel();
    }
  }
}
