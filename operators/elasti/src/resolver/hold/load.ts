import type { Endpoint } from "../targets.ts";

/** How fast an endpoint that has just become ready is given requests. */
export interface SlowStart {
  /** How many unanswered requests it has at first. */
  readonly initial: number;
  /** How long it takes for that to double. */
  readonly doublingMs: number;
}

/** After so many doublings there is no limit. */
const MOST_DOUBLINGS = 16;
/**
 * Answers let it have this many more at a time. Each needs a connection of its own, and an endpoint that answers soon is
 * not sooner done with thousands of them at once.
 */
const MOST_BY_ANSWERS = 256;
const FIRST_RETRY_MS = 25;
const LONGEST_RETRY_MS = 500;

/**
 * How much one endpoint has to do, and how much more it may be given.
 *
 * A new endpoint gets few requests at first, and more as time goes on and as it answers: thousands that have waited do not
 * fall on it at once. It grows with time alone too, since answers that take long must not stop the rest. An endpoint that
 * refuses connections is left alone for a while.
 */
export class EndpointLoad<Resources> {
  readonly endpoint: Endpoint;
  /** What is kept for this endpoint: its connections. */
  readonly resources: Resources;
  readonly #readySince: number;
  readonly #slowStart: SlowStart;
  #inFlight = 0;
  #unanswered = 0;
  #answered = 0;
  #isRampedUp = false;
  #failures = 0;
  #retryAt = 0;

  constructor(endpoint: Endpoint, resources: Resources, now: number, slowStart: SlowStart) {
    this.endpoint = endpoint;
    this.resources = resources;
    this.#readySince = now;
    this.#slowStart = slowStart;
  }

  /** Requests that were given to it and are not over. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether it has answered anything since it became ready. */
  get isProven(): boolean {
    return this.#answered > 0;
  }

  /** When it may be given a request: `now` or before means at once, and Infinity after another one is over. */
  roomAt(now: number, maxConcurrency: number): number {
    if (this.#inFlight >= maxConcurrency) return Number.POSITIVE_INFINITY;
    if (this.#retryAt > now) return this.#retryAt;
    if (this.#isRampedUp) return now;
    const { initial, doublingMs } = this.#slowStart;
    const doublings = (now - this.#readySince) / doublingMs;
    if (doublings >= MOST_DOUBLINGS) {
      this.#isRampedUp = true;
      return now;
    }
    const excess = this.#unanswered - Math.min(this.#answered, MOST_BY_ANSWERS);
    if (excess < initial * 2 ** doublings) return now;
    return this.#readySince + Math.log2((excess + 1) / initial) * doublingMs;
  }

  taken(): void {
    this.#inFlight += 1;
    this.#unanswered += 1;
  }

  answered(): void {
    this.#unanswered -= 1;
    this.#answered += 1;
    this.#failures = 0;
    this.#retryAt = 0;
  }

  /** @param wasAnswered whether `answered` was called for it. */
  released(wasAnswered: boolean): void {
    this.#inFlight -= 1;
    if (!wasAnswered) this.#unanswered -= 1;
  }

  /** It could not be connected to. */
  failed(now: number): void {
    this.#retryAt = now + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, MOST_DOUBLINGS);
  }
}
