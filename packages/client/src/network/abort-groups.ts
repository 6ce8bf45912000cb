/** What ends when its signal is aborted. */
export interface Abortable {
  aborted(reason: unknown): void;
}

/**
 * The requests under way, by their signals. One listener on each signal serves all requests that
 * share it: listeners that come and go on a signal that stays are linked to each other, and the
 * garbage collector takes every request for alive until it has scanned all memory.
 */
export class AbortGroups {
  readonly #groups = new Map<AbortSignal, Group>();

  add(signal: AbortSignal, one: Abortable): void {
    let group = this.#groups.get(signal);
    if (!group) {
      group = new Group(signal);
      this.#groups.set(signal, group);
    }
    group.members.push(one);
  }

  /** Takes out one that has ended by itself, or by the signal. */
  delete(signal: AbortSignal, one: Abortable): void {
    const group = this.#groups.get(signal);
    if (!group) return;
    const at = group.members.indexOf(one);
    if (at >= 0) group.members.splice(at, 1);
    if (group.members.length > 0) return;
    group.end();
    this.#groups.delete(signal);
  }
}

/** The requests of one signal. */
class Group {
  readonly members: Abortable[] = [];
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  end(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = () => {
    // Each takes itself out when it ends.
    for (const member of this.members.splice(0)) member.aborted(this.#signal.reason);
  };
}
