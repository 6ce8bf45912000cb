import type { Endpoint } from "../targets.ts";

/** How fast an endpoint that has just become ready is given requests. */
export interface SlowStart {
  /** How many unanswered requests it has at first. */
  readonly initial: number;
  /** How long it takes for that to double, as long as answers do not take longer for it. */
  readonly doublingMs: number;
}

/** After so many doublings there is no limit. */
const MOST_DOUBLINGS = 16;
/** An endpoint whose answers take so many times as long as its quickest has enough to do: more at a time would only wait there. */
const BUSY_FACTOR = 2;
/** What answers of any endpoint may take beyond that: turns of an event loop, here or there. */
const BUSY_SLACK_MS = 2;
/** How much slower an endpoint gets more that has enough to do. Its quickest answer may have been no measure of the others. */
const BUSY_SLOWDOWN = 8;
/** The weight of the last answer in the time that answers take. */
const LAST_WEIGHT = 0.2;
const FIRST_RETRY_MS = 25;
const LONGEST_RETRY_MS = 500;

/**
 * How much one endpoint has to do, and how much more it may be given.
 *
 * A new endpoint gets few requests at first, and more as time goes on: thousands that have waited do not fall on it at once.
 * It gets more also if it does not answer, since answers that take long must not stop the rest. It gets hardly more once
 * answers take longer for it: then it is busy, and each request beyond what it works on costs a connection for nothing.
 * An endpoint that refuses connections is left alone for a while.
 */
export class EndpointLoad<Resources> {
  readonly endpoint: Endpoint;
  /** What is kept for this endpoint: its connections. */
  readonly resources: Resources;
  readonly #slowStart: SlowStart;
  #inFlight = 0;
  #unanswered = 0;
  #isProven = false;
  /** How often the number of requests that it may have has doubled, up to `#grownAt`. */
  #doublings = 0;
  #grownAt: number;
  #quickestMs = Number.POSITIVE_INFINITY;
  #answerMs = 0;
  #failures = 0;
  #retryAt = 0;

  constructor(endpoint: Endpoint, resources: Resources, now: number, slowStart: SlowStart) {
    this.endpoint = endpoint;
    this.resources = resources;
    this.#grownAt = now;
    this.#slowStart = slowStart;
  }

  /** Requests that were given to it and are not over. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether it has answered anything since it became ready. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** When it may be given a request: `now` or before means at once, and Infinity after another one is over. */
  roomAt(now: number, maxConcurrency: number): number {
    if (this.#inFlight >= maxConcurrency) return Number.POSITIVE_INFINITY;
    if (this.#retryAt > now) return this.#retryAt;
    this.#grow(now);
    if (this.#isRampedUp) return now;
    const missing = Math.log2((this.#unanswered + 1) / this.#slowStart.initial) - this.#doublings;
    return missing <= 0 ? now : now + missing * this.#doublingMs;
  }

  taken(): void {
    this.#inFlight += 1;
    this.#unanswered += 1;
  }

  /** @param tookMs how long the answer took. */
  answered(now: number, tookMs: number): void {
    this.#grow(now);
    this.#unanswered -= 1;
    this.#quickestMs = Math.min(this.#quickestMs, tookMs);
    this.#answerMs = this.#isProven ? this.#answerMs + (tookMs - this.#answerMs) * LAST_WEIGHT : tookMs;
    this.#isProven = true;
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

  get #isRampedUp(): boolean {
    return this.#doublings >= MOST_DOUBLINGS;
  }

  /** How long it takes at the moment until it may have twice as many. */
  get #doublingMs(): number {
    const isBusy = this.#answerMs > this.#quickestMs * BUSY_FACTOR + BUSY_SLACK_MS;
    return isBusy ? this.#slowStart.doublingMs * BUSY_SLOWDOWN : this.#slowStart.doublingMs;
  }

  /** To be called before what the pace depends on changes. */
  #grow(now: number): void {
    if (this.#isRampedUp) return;
    this.#doublings += (now - this.#grownAt) / this.#doublingMs;
    this.#grownAt = now;
  }
}
