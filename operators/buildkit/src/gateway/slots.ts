import type { AllocationHash } from "../tokens/index.ts";
import { overLimit, type Refusal } from "./refusal.ts";

/** A place among the connections that a gateway has, or why there is none. */
export type Slot =
  | { readonly is: "taken"; readonly release: () => void }
  | { readonly is: "refused"; readonly refusal: Refusal };

/** Counts connections, in all and by allocation, from when they are admitted until they end. */
export class ConnectionSlots {
  readonly #most: number;
  readonly #mostPerAllocation: number;
  readonly #taken = new Map<AllocationHash, number>();
  #total = 0;

  constructor(most: number, mostPerAllocation: number) {
    this.#most = most;
    this.#mostPerAllocation = mostPerAllocation;
  }

  take(allocation: AllocationHash): Slot {
    const taken = this.#taken.get(allocation) ?? 0;
    if (this.#total >= this.#most)
      return { is: "refused", refusal: overLimit(`it has ${this.#most}, the most it may have`) };
    if (taken >= this.#mostPerAllocation)
      return { is: "refused", refusal: overLimit(`the allocation has ${taken}, the most it may have`) };
    this.#total += 1;
    this.#taken.set(allocation, taken + 1);
    return { is: "taken", release: () => this.#release(allocation) };
  }

  #release(allocation: AllocationHash): void {
    const left = (this.#taken.get(allocation) ?? 1) - 1;
    this.#total -= 1;
    if (left > 0) this.#taken.set(allocation, left);
    else this.#taken.delete(allocation);
  }
}
