import type { Endpoint } from "../targets.ts";

/** How fast an endpoint that has just become ready is given requests. */
export interface SlowStart {
  /** How many unanswered requests it has at first, and how many connections are made at a time. */
  readonly initial: number;
  /** How long it takes for that to double, as long as more at a time means more answers. */
  readonly doublingMs: number;
}

/** 5,000 that wait are let go within 0.7 s if none is answered by then. */
export const usualSlowStart: SlowStart = { initial: 64, doublingMs: 100 };

/** After so many doublings there is no limit. */
const MOST_DOUBLINGS = 16;
/**
 * What an endpoint answers is counted over at least so long, and over as long as an answer takes.
 */
const ROUND_MS = 25;
/** How much more an endpoint has to answer in a round for it to count as more. */
const GAIN = 1.25;
/**
 * After so many rounds in which it was given all that it may have, and did not answer more, it has
 * enough to do.
 */
const ROUNDS_WITHOUT_GAIN = 3;
/**
 * How much slower an endpoint gets more that has enough to do: it may be others that keep it from
 * answering more.
 */
const BUSY_SLOWDOWN = 8;
/** The weight of the last answer in the time that answers take. */
const LAST_WEIGHT = 0.2;
const FIRST_RETRY_MS = 25;
const LONGEST_RETRY_MS = 500;

/**
 * How much one endpoint has to do, and how much more it may be given.
 *
 * A new endpoint gets few requests at first, and more as time goes on: thousands that have waited
 * do not fall on it at once. It gets more also if it does not answer, since answers that take long
 * must not stop the rest. It gets hardly more once that does not make it answer more in the same
 * time: then it is busy, and each request beyond what it works on costs a connection for nothing.
 * How long answers take is no sign of load: it is longer for any endpoint on a busy node, also for
 * one that waits for others and could have thousands at a time. It gets no more while many
 * connections to it are still being made: a request that has to wait for that waits better here. An
 * endpoint that refuses connections is left alone for a while.
 */
export class EndpointLoad<Resources> {
  readonly endpoint: Endpoint;
  /** What is kept for this endpoint: its connections. */
  readonly resources: Resources;
  readonly #slowStart: SlowStart;
  #inFlight = 0;
  #connecting = 0;
  #unanswered = 0;
  #isProven = false;
  /** How often the number of requests that it may have has doubled, up to `#grownAt`. */
  #doublings = 0;
  #grownAt: number;
  #answerMs = 0;
  /**
   * Since when answers are counted, how many there were, and whether it could have had more
   * requests.
   */
  #roundSince: number;
  #roundAnswers = 0;
  #wasFull = false;
  /**
   * The most answers in a millisecond of any round, and for how many rounds there were not notably
   * more.
   */
  #mostPerMs = 0;
  #roundsWithoutGain = 0;
  #failures = 0;
  #retryAt = 0;

  constructor(endpoint: Endpoint, resources: Resources, now: number, slowStart: SlowStart) {
    this.endpoint = endpoint;
    this.resources = resources;
    this.#grownAt = now;
    this.#roundSince = now;
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

  /**
   * When it may be given a request: `now` or before means at once, and Infinity after another one
   * is connected or over.
   */
  roomAt(now: number, maxConcurrency: number): number {
    if (this.#inFlight >= maxConcurrency) return Number.POSITIVE_INFINITY;
    if (this.#connecting >= this.#slowStart.initial) return Number.POSITIVE_INFINITY;
    if (this.#retryAt > now) return this.#retryAt;
    this.#grow(now);
    if (this.#isRampedUp) return now;
    const missing = Math.log2((this.#unanswered + 1) / this.#slowStart.initial) - this.#doublings;
    if (missing <= 0) return now;
    this.#wasFull = true;
    return now + missing * this.#doublingMs;
  }

  taken(): void {
    this.#inFlight += 1;
    this.#connecting += 1;
    this.#unanswered += 1;
  }

  /**
   * A request that was given to it has its connection. To be called once for each, at the latest
   * when it is over.
   */
  connected(): void {
    this.#connecting -= 1;
  }

  /** @param tookMs how long the answer took. */
  answered(now: number, tookMs: number): void {
    this.#grow(now);
    this.#unanswered -= 1;
    this.#answerMs = this.#isProven ? this.#answerMs + (tookMs - this.#answerMs) * LAST_WEIGHT : tookMs;
    this.#isProven = true;
    this.#failures = 0;
    this.#retryAt = 0;
    this.#roundAnswers += 1;
    if (now - this.#roundSince >= Math.max(ROUND_MS, this.#answerMs)) this.#endRound(now);
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
    const isBusy = this.#roundsWithoutGain >= ROUNDS_WITHOUT_GAIN;
    return isBusy ? this.#slowStart.doublingMs * BUSY_SLOWDOWN : this.#slowStart.doublingMs;
  }

  #endRound(now: number): void {
    const perMs = this.#roundAnswers / (now - this.#roundSince);
    if (perMs > this.#mostPerMs * GAIN) {
      this.#mostPerMs = perMs;
      this.#roundsWithoutGain = 0;
    } else if (this.#wasFull) this.#roundsWithoutGain += 1;
    this.#roundSince = now;
    this.#roundAnswers = 0;
    this.#wasFull = false;
  }

  /** To be called before what the pace depends on changes. */
  #grow(now: number): void {
    if (this.#isRampedUp) return;
    this.#doublings += (now - this.#grownAt) / this.#doublingMs;
    this.#grownAt = now;
  }
}
