import type { Duplex } from "node:stream";
import { type Clock, type Duration, milliseconds, systemClock } from "@windlass/clock";
import { type Relay, type RelayOptions, relay } from "./relay.ts";

/** How to drain. */
export interface DrainOptions {
  /** How long live relays may take to end by themselves. */
  readonly within: Duration;
  /**
   * What relays that are cut at the deadline, or joined after the drain began, are aborted with.
   */
  readonly reason: unknown;
}

/** The outcome of the relays that were live when a drain began. */
export interface DrainResult {
  /** Ended by themselves. */
  readonly ended: number;
  /** Aborted at the deadline. */
  readonly cut: number;
}

const none: ReadonlySet<Relay> = new Set();

/**
 * Relays that live and end together. Each has a key, such as the session or the tenant that it
 * belongs to, by which all of that key can be aborted.
 */
export class RelayGroup<Key> {
  readonly #clock: Clock;
  readonly #live = new Map<Key, Set<Relay>>();
  #size = 0;
  #draining: { readonly reason: unknown; readonly emptied: PromiseWithResolvers<void> } | undefined;

  constructor(options: { readonly clock?: Clock } = {}) {
    this.#clock = options.clock ?? systemClock;
  }

  /** How many relays are live. */
  get size(): number {
    return this.#size;
  }

  /** Whether a drain has begun. What is joined from then on is aborted at once. */
  get isDraining(): boolean {
    return this.#draining !== undefined;
  }

  /** The live relays of a key. */
  of(key: Key): ReadonlySet<Relay> {
    return this.#live.get(key) ?? none;
  }

  /** Joins two sockets as `relay` does, for as long as the group lets them. */
  join(key: Key, client: Duplex, upstream: Duplex, options: RelayOptions = {}): Relay {
    const joined = relay(client, upstream, { clock: this.#clock, ...options });
    const ofKey = this.#live.get(key) ?? new Set();
    this.#live.set(key, ofKey.add(joined));
    this.#size += 1;
    void joined.ended.then(() => {
      ofKey.delete(joined);
      if (ofKey.size === 0 && this.#live.get(key) === ofKey) this.#live.delete(key);
      this.#size -= 1;
      if (this.#size === 0) this.#draining?.emptied.resolve();
    });
    if (this.#draining) joined.abort(this.#draining.reason);
    return joined;
  }

  /** Aborts the relays of a key. @returns how many there were. */
  abort(key: Key, reason: unknown): number {
    const found = this.of(key);
    const { size } = found;
    for (const one of found) one.abort(reason);
    return size;
  }

  /**
   * Takes no more relays, lets the live ones end, and aborts those that are left at the deadline.
   * Resolves when none is live. A second call may bring the deadline forward: the first one to be
   * reached counts.
   */
  async drain({ within, reason }: DrainOptions): Promise<DrainResult> {
    const withinMs = milliseconds(within, "drain: within");
    this.#draining ??= { reason, emptied: Promise.withResolvers() };
    const { emptied } = this.#draining;
    const before = this.#size;
    if (before === 0) emptied.resolve();
    let cut = 0;
    const cutAll = () => {
      cut = this.#size;
      for (const key of this.#live.keys()) this.abort(key, reason);
    };
    // Without time nothing is scheduled: "at once" does not wait for a clock to move.
    if (withinMs === 0) cutAll();
    const cancel = withinMs === 0 ? undefined : this.#clock.schedule(withinMs, cutAll);
    await emptied.promise;
    cancel?.();
    return { ended: before - cut, cut };
  }
}
