import type { KubernetesObject } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { CacheEvent } from "./contract.ts";
import { Pace, turn } from "./pace.ts";

type Event = CacheEvent<KubernetesObject>;
/** Is called with each event. */
export type Handler = (event: Event) => void;

interface Subscriber {
  readonly handler: Handler;
  isActive: boolean;
  /** What happened while it still receives what was there before. */
  backlog: Event[] | undefined;
}

/** The subscribers to changes. Each gets every change once and in order, whatever the others do. */
export class Subscribers {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  #subscribers: readonly Subscriber[] = [];

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /**
   * Tells the handler of what is there, then of each change. Where there is much, others get their
   * turn in between.
   *
   * @returns the way to stop.
   */
  add(handler: Handler, present: Iterable<Event>): () => void {
    const subscriber: Subscriber = { handler, isActive: true, backlog: [] };
    this.#subscribers = [...this.#subscribers, subscriber];
    const pace = new Pace(this.#clock);
    const events = present[Symbol.iterator]();
    const catchUp = () => {
      for (let next = events.next(); subscriber.isActive && !next.done; next = events.next()) {
        pace.begin();
        this.#call(subscriber, next.value);
        if (pace.isSliceOver()) {
          void turn().then(catchUp);
          return;
        }
      }
      for (const event of subscriber.backlog ?? []) this.#call(subscriber, event);
      subscriber.backlog = undefined;
    };
    catchUp();
    return () => {
      subscriber.isActive = false;
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    };
  }

  /** Those who are subscribed now, without any who subscribe later. */
  present(): { tell(event: Event): void } {
    const subscribers = this.#subscribers;
    return { tell: (event) => this.#tell(subscribers, event) };
  }

  tell(event: Event): void {
    this.#tell(this.#subscribers, event);
  }

  clear(): void {
    for (const subscriber of this.#subscribers) subscriber.isActive = false;
    this.#subscribers = [];
  }

  #tell(subscribers: readonly Subscriber[], event: Event): void {
    for (const subscriber of subscribers) {
      if (subscriber.backlog) subscriber.backlog.push(event);
      else this.#call(subscriber, event);
    }
  }

  #call(subscriber: Subscriber, event: Event): void {
    if (!subscriber.isActive) return;
    try {
      subscriber.handler(event);
    } catch (error) {
      this.#onError(error);
    }
  }
}
