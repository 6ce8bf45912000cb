import type { Clock } from "@windlass/clock";
import type { Failure } from "../failure.ts";
import type { Endpoint } from "../targets.ts";
import { EndpointLoad, type SlowStart } from "./load.ts";
import { HoldQueue, Place } from "./queue.ts";

/**
 * A request that wants an endpoint. Exactly one of its methods is called for each time that it
 * asks.
 */
export interface Waiter<Resources> {
  /** An endpoint has room for it. It has to release the slot. */
  dispatch(slot: Slot<Resources>): void;
  /** It will get none. */
  refuse(failure: Failure): void;
}

/** What a dispatcher belongs to: it counts what waits, over all ports of a service. */
export interface DispatcherOwner {
  /** @returns whether one more may wait. */
  mayHold(): boolean;
  /** One has ceased to wait. */
  letGo(): void;
  /** Requests wait that no endpoint is there for. */
  demanded(): void;
}

/** How a dispatcher treats its requests. It may change at any time. */
export interface DispatchRules {
  /** Whether requests wait even if an endpoint has room. */
  readonly isHeld: boolean;
  /** Set if no request may wait, and why. */
  readonly refusal: Failure | undefined;
  readonly holdMs: number;
  readonly maxConcurrencyPerEndpoint: number;
}

/** What a dispatcher needs. */
export interface DispatcherOptions<Resources> {
  readonly clock: Clock;
  readonly owner: DispatcherOwner;
  readonly slowStart: SlowStart;
  /** Makes what is kept for an endpoint. */
  readonly open: (endpoint: Endpoint) => Resources;
  /** An endpoint is no longer listed, or all requests are held: what is idle is closed. */
  readonly retire: (resources: Resources) => void;
}

interface Held<Resources> {
  readonly waiter: Waiter<Resources>;
  cancelDeadline: (() => void) | undefined;
}

/** A request's place while it waits. */
export type Ticket<Resources> = Place<Held<Resources>>;

/**
 * Gives the requests of one port to its endpoints, the least loaded first. Requests for which there
 * is no room wait in the order in which they came, and go as soon as there is.
 */
export class Dispatcher<Resources> {
  readonly #options: DispatcherOptions<Resources>;
  readonly #clock: Clock;
  readonly #queue = new HoldQueue<Held<Resources>>();
  #rules: DispatchRules;
  /** Set once nothing is given to endpoints any more, and why. */
  #closed: Failure | undefined;
  #endpoints: readonly EndpointLoad<Resources>[] = [];
  /** Where to begin to look for the least loaded endpoint, so that equals take turns. */
  #turn = 0;
  #cancelPump: (() => void) | undefined;
  #isPumping = false;
  #isPumpSoon = false;

  constructor(rules: DispatchRules, options: DispatcherOptions<Resources>) {
    this.#rules = rules;
    this.#options = options;
    this.#clock = options.clock;
  }

  /** How many wait. */
  get held(): number {
    return this.#queue.size;
  }

  get endpoints(): readonly EndpointLoad<Resources>[] {
    return this.#endpoints;
  }

  /** Whether a request that comes now may have to wait for the target to wake. */
  get isAsleep(): boolean {
    return this.#rules.isHeld || this.#endpoints.length === 0;
  }

  /**
   * Asks for an endpoint. If there is one, the waiter has it before this returns.
   *
   * @param withinMs how long it may wait; at most what the rules say.
   * @returns its place if it waits.
   */
  request(waiter: Waiter<Resources>, withinMs = this.#rules.holdMs): Ticket<Resources> | undefined {
    if (this.#queue.size === 0) {
      const now = this.#clock.monotonic();
      const load = this.#pick(now);
      if (load) {
        this.#give(load, waiter, now);
        return undefined;
      }
    }
    return this.#wait(waiter, Math.min(withinMs, this.#rules.holdMs), "last");
  }

  /** Asks again, before those who wait, after an endpoint was given in vain. */
  requestAgain(waiter: Waiter<Resources>, withinMs: number): Ticket<Resources> | undefined {
    if (withinMs <= 0) {
      waiter.refuse({ why: "hold-timeout" });
      return undefined;
    }
    const now = this.#clock.monotonic();
    const load = this.#pick(now);
    if (!load) return this.#wait(waiter, withinMs, "first");
    this.#give(load, waiter, now);
    return undefined;
  }

  /** The request no longer wants an endpoint. */
  leave(ticket: Ticket<Resources>): void {
    if (!this.#queue.remove(ticket)) return;
    ticket.value.cancelDeadline?.();
    this.#options.owner.letGo();
  }

  /** Refuses the request that came last. */
  evict(): void {
    const { last } = this.#queue;
    if (last) this.#refuse(last, { why: "queue-full" });
  }

  /**
   * Refuses all requests that wait, and all that come from now on: also one that was given to an
   * endpoint before, and comes back because it could not be connected to. What an endpoint has goes
   * on to its end.
   */
  close(failure: Failure): void {
    this.#closed = failure;
    this.refuseAll(failure);
    for (const { resources } of this.#endpoints) this.#options.retire(resources);
    this.#endpoints = [];
  }

  /** Refuses all that wait. */
  refuseAll(failure: Failure): void {
    for (let first = this.#queue.first; first; first = this.#queue.first) this.#refuse(first, failure);
  }

  /** What holds from now on. */
  update(rules: DispatchRules, endpoints: readonly Endpoint[]): void {
    this.#rules = rules;
    const now = this.#clock.monotonic();
    const before = new Map(this.#endpoints.map((load) => [identity(load.endpoint), load]));
    this.#endpoints = endpoints.map((endpoint) => {
      const known = before.get(identity(endpoint));
      before.delete(identity(endpoint));
      if (known) return known;
      return new EndpointLoad(endpoint, this.#options.open(endpoint), now, this.#options.slowStart);
    });
    for (const { resources } of before.values()) this.#options.retire(resources);
    if (rules.isHeld) for (const { resources } of this.#endpoints) this.#options.retire(resources);
    if (rules.refusal) this.refuseAll(rules.refusal);
    this.#pump();
    if (this.#queue.size > 0 && this.isAsleep) this.#options.owner.demanded();
  }

  /** Called by slots. */
  connected(load: EndpointLoad<Resources>): void {
    load.connected();
    if (this.#queue.size > 0) this.#pump();
  }

  /**
   * Called by slots. What waits gets the room that an answer makes, but not within the answer: most
   * are over at once, and leave a connection that can be used again.
   */
  answered(load: EndpointLoad<Resources>, givenAt: number): void {
    const now = this.#clock.monotonic();
    load.answered(now, now - givenAt);
    if (this.#queue.size > 0 && !this.#isPumpSoon) {
      this.#isPumpSoon = true;
      this.#clock.schedule(1, () => {
        this.#isPumpSoon = false;
        this.#pump();
      });
    }
  }

  /** Called by slots. */
  ended(load: EndpointLoad<Resources>, how: "released" | "unreachable", wasAnswered: boolean): void {
    load.released(wasAnswered);
    if (how === "unreachable") load.failed(this.#clock.monotonic());
    if (this.#queue.size > 0) this.#pump();
  }

  #wait(waiter: Waiter<Resources>, withinMs: number, at: "first" | "last"): Ticket<Resources> | undefined {
    if (this.#closed) {
      waiter.refuse(this.#closed);
      return undefined;
    }
    const { owner } = this.#options;
    const { refusal } = this.#rules;
    if (refusal) {
      // It is asked for all the same: what kept the target from waking may be over.
      owner.demanded();
      waiter.refuse(refusal);
      return undefined;
    }
    if (!owner.mayHold()) {
      waiter.refuse({ why: "queue-full" });
      return undefined;
    }
    const place = new Place<Held<Resources>>({ waiter, cancelDeadline: undefined });
    if (at === "last") this.#queue.push(place);
    else this.#queue.pushFirst(place);
    if (withinMs < Number.POSITIVE_INFINITY)
      place.value.cancelDeadline = this.#clock.schedule(withinMs, () =>
        this.#refuse(place, { why: "hold-timeout" }),
      );
    if (this.isAsleep) owner.demanded();
    else this.#pump();
    // It may have got its endpoint by now, and then must not wait.
    return place.queue === this.#queue ? place : undefined;
  }

  #refuse(place: Ticket<Resources>, failure: Failure): void {
    this.leave(place);
    place.value.waiter.refuse(failure);
  }

  #give(load: EndpointLoad<Resources>, waiter: Waiter<Resources>, now: number): void {
    load.taken();
    waiter.dispatch(new Slot(this, load, now));
  }

  /** Lets go all that there is room for. */
  #pump(): void {
    // A waiter may give its slot back at once, which pumps again. One loop is enough.
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#cancelPump?.();
    this.#cancelPump = undefined;
    try {
      const now = this.#clock.monotonic();
      for (let first = this.#queue.first; first; first = this.#queue.first) {
        const load = this.#pick(now);
        if (!load) break;
        this.leave(first);
        this.#give(load, first.value.waiter, now);
      }
      if (this.#queue.size > 0) this.#pumpLater(now);
    } finally {
      this.#isPumping = false;
    }
  }

  /**
   * When an endpoint will have room though nothing happens: it is tried again, or may have more
   * requests.
   */
  #pumpLater(now: number): void {
    if (this.#rules.isHeld) return;
    let at = Number.POSITIVE_INFINITY;
    for (const load of this.#endpoints)
      at = Math.min(at, load.roomAt(now, this.#rules.maxConcurrencyPerEndpoint));
    if (at === Number.POSITIVE_INFINITY) return;
    this.#cancelPump = this.#clock.schedule(Math.max(1, Math.ceil(at - now)), () => {
      this.#cancelPump = undefined;
      this.#pump();
    });
  }

  #pick(now: number): EndpointLoad<Resources> | undefined {
    if (this.#rules.isHeld) return undefined;
    const { maxConcurrencyPerEndpoint: most } = this.#rules;
    const { length } = this.#endpoints;
    let best: EndpointLoad<Resources> | undefined;
    for (let offset = 0; offset < length; offset++) {
      const load = this.#endpoints[(this.#turn + offset) % length] as EndpointLoad<Resources>;
      if ((!best || load.inFlight < best.inFlight) && load.roomAt(now, most) <= now) best = load;
    }
    this.#turn = length > 0 ? (this.#turn + 1) % length : 0;
    return best;
  }
}

/** A request's claim on an endpoint. It is given back exactly once. */
export class Slot<Resources> {
  readonly load: EndpointLoad<Resources>;
  readonly #dispatcher: Dispatcher<Resources>;
  readonly #givenAt: number;
  #state: "taken" | "connected" | "answered" | "over" = "taken";

  constructor(dispatcher: Dispatcher<Resources>, load: EndpointLoad<Resources>, now: number) {
    this.#dispatcher = dispatcher;
    this.load = load;
    this.#givenAt = now;
  }

  /** The request has a connection to the endpoint. */
  connected(): void {
    if (this.#state !== "taken") return;
    this.#state = "connected";
    this.#dispatcher.connected(this.load);
  }

  /** The endpoint has begun to answer. */
  answered(): void {
    this.connected();
    if (this.#state !== "connected") return;
    this.#state = "answered";
    this.#dispatcher.answered(this.load, this.#givenAt);
  }

  /** The request is over, or has left. */
  release(): void {
    this.#end("released");
  }

  /** The endpoint could not be connected to. It gets no requests for a moment. */
  unreachable(): void {
    this.#end("unreachable");
  }

  #end(how: "released" | "unreachable"): void {
    if (this.#state === "over") return;
    if (this.#state === "taken") this.load.connected();
    const wasAnswered = this.#state === "answered";
    this.#state = "over";
    this.#dispatcher.ended(this.load, how, wasAnswered);
  }
}

/** An address that another pod has got is another endpoint. */
function identity({ address, port, podUid }: Endpoint): string {
  return `${address} ${port} ${podUid ?? ""}`;
}
