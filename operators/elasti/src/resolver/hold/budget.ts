/** An owner of requests that wait. It can refuse one. */
export interface BudgetHolder {
  /** How many wait. */
  readonly held: number;
  /** Refuses the request that came last. */
  evict(): void;
}

/**
 * How many requests may wait in all. When there is no room, the service with the most of them gives
 * way: a service that cannot start takes no room from those that can.
 */
export class HoldBudget {
  readonly #most: number;
  readonly #holders = new Set<BudgetHolder>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** To be called before a request begins to wait. @returns whether it may. */
  take(holder: BudgetHolder): boolean {
    if (this.#held >= this.#most) {
      const heaviest = this.#heaviest();
      if (!heaviest || heaviest.held <= holder.held + 1) return false;
      heaviest.evict();
    }
    this.#held += 1;
    this.#holders.add(holder);
    return true;
  }

  /** To be called after a request has ceased to wait. */
  release(holder: BudgetHolder): void {
    this.#held -= 1;
    if (holder.held === 0) this.#holders.delete(holder);
  }

  /** Only asked when there is no room, so it may look at all of them. */
  #heaviest(): BudgetHolder | undefined {
    let heaviest: BudgetHolder | undefined;
    for (const holder of this.#holders) if (!heaviest || holder.held > heaviest.held) heaviest = holder;
    return heaviest;
  }
}
