import type { AllocationHash, Revocations } from "../tokens/index.ts";

/** Where a worker is reached, and who it has to prove to be. */
export interface WorkerAddress {
  /** The worker's own name, for messages. */
  readonly name: string;
  /** An IP address. */
  readonly host: string;
  readonly port: number;
  /** The name that its certificate must be for: `workerServerName`. */
  readonly serverName: string;
}

/** Where the connections of an allocation lead. */
export type Route =
  /** There is no such allocation, or the gateway does not know it yet. */
  | { readonly at: "unknown" }
  /** It has a worker that cannot be reached yet. */
  | { readonly at: "starting"; readonly worker: string }
  | { readonly at: "ready"; readonly worker: WorkerAddress }
  /** It was taken back. `reason` is for the client. */
  | { readonly at: "revoked"; readonly reason: string }
  /** Its worker is gone. `reason` is for the client. */
  | { readonly at: "lost"; readonly worker: string; readonly reason: string };

/**
 * What a gateway knows of allocations. It is asked for every connection, so it answers from memory,
 * whether the controller and the API server are up or not.
 */
export interface WorkerLookup {
  /** Where the connections of an allocation lead at this moment. */
  find(allocation: AllocationHash): Route;
  /** Calls back after the route of an allocation has changed. The returned function ends that. */
  onChange(listener: (allocation: AllocationHash) => void): () => void;
  /** Why it does not know all allocations yet; undefined once it does. */
  fault(): string | undefined;
}

/** A lookup in memory. The watch of the workers fills it. */
export class RoutingTable implements WorkerLookup {
  readonly #routes = new Map<AllocationHash, Route>();
  readonly #listeners = new Set<(allocation: AllocationHash) => void>();
  #revoked: Revocations = new Map();
  #isFilled = false;

  find(allocation: AllocationHash): Route {
    const revocation = this.#revoked.get(allocation);
    if (revocation) return { at: "revoked", reason: revocation.reason };
    return this.#routes.get(allocation) ?? { at: "unknown" };
  }

  onChange(listener: (allocation: AllocationHash) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  fault(): string | undefined {
    return this.#isFilled ? undefined : "the workers have not been listed yet";
  }

  /** Sets the route of one allocation; `unknown` removes it. */
  set(allocation: AllocationHash, route: Route): void {
    const before = this.find(allocation);
    if (route.at === "unknown") this.#routes.delete(allocation);
    else this.#routes.set(allocation, route);
    this.#tellIfChanged(allocation, before);
  }

  /** Sets which allocations were taken back. They lead nowhere, whatever route they have. */
  revoke(list: Revocations): void {
    const before = this.#revoked;
    const seen = new Map([...before, ...list].map(([allocation]) => [allocation, this.find(allocation)]));
    this.#revoked = list;
    for (const [allocation, route] of seen) this.#tellIfChanged(allocation, route);
  }

  /** Says that all allocations that exist have been set. */
  markFilled(): void {
    this.#isFilled = true;
  }

  #tellIfChanged(allocation: AllocationHash, before: Route): void {
    if (isSameRoute(before, this.find(allocation))) return;
    for (const listener of this.#listeners) listener(allocation);
  }
}

function isSameRoute(one: Route, other: Route): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
