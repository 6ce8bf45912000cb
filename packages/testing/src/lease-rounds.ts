import type { Transport } from "@windlass/client";

/** What a candidate for a lease has seen of it in this round. */
interface Observation {
  readonly order: number;
}

const leasePath = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/?]+\/leases\/[^/?]+/;

/**
 * Knows when a round is done in which every lease was renewed, everybody else who competes for it
 * saw that, and nothing else was written. The next round would be the same, and every one after it,
 * until something happens.
 */
export class LeaseRounds {
  /** Who competes for what, with their last look at it in this round. */
  readonly #candidates = new Map<
    string,
    { readonly who: string; readonly lease: string; look?: Observation }
  >();
  /** When each lease was first renewed in this round. */
  readonly #renewed = new Map<string, number>();
  #order = 0;
  #begun = 0;

  /** How often a round has begun. */
  get begun(): number {
    return this.#begun;
  }

  get isDone(): boolean {
    for (const { lease, look } of this.#candidates.values()) {
      const renewed = this.#renewed.get(lease);
      if (!look || renewed === undefined || look.order < renewed) return false;
    }
    return this.#candidates.size > 0;
  }

  /** Starts over: something has happened that may concern a lease. */
  begin(): void {
    this.#begun++;
    this.#renewed.clear();
    for (const candidate of this.#candidates.values()) delete candidate.look;
  }

  /** A candidate competes no more. */
  leave(who: string): void {
    for (const [key, candidate] of this.#candidates) if (candidate.who === who) this.#candidates.delete(key);
    this.begin();
  }

  wrote(resource: string): void {
    if (resource !== "leases.coordination.k8s.io") this.begin();
  }

  /** The transport of an operator, whose requests about leases are followed. */
  around(inner: Transport, who: string): Transport {
    return {
      request: async (request) => {
        const { method, path } = request;
        const lease = leasePath.exec(path)?.[0];
        if (lease === undefined) return await inner.request(request);
        const response = await inner.request(request);
        const isRenewal = method === "PUT";
        if (response.status === 200 && (isRenewal || method === "GET")) this.#saw(who, lease, isRenewal);
        else this.begin();
        return response;
      },
      close: () => inner.close(),
    };
  }

  #saw(who: string, lease: string, isRenewal: boolean): void {
    const order = ++this.#order;
    if (isRenewal && !this.#renewed.has(lease)) this.#renewed.set(lease, order);
    this.#candidates.set(`${who} ${lease}`, { who, lease, look: { order } });
  }
}
