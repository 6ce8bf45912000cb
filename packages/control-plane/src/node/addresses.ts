import type { Pod } from "@windlass/kinds/builtin";
import type { Store } from "../storage/store.ts";
import { typed } from "../storage/typed.ts";

const first = 2;
/** What follows is for the nodes themselves. */
const last = 0xfeff;

/** Allocates the pod addresses of a network in order, and reuses one only after all others. */
export class Addresses {
  readonly #byKey = new Map<string, number>();
  readonly #taken = new Set<number>();
  readonly #prefix: string;
  #next = first;

  /**
   * Addresses that pods in the store have already stay theirs.
   *
   * @param prefix the first two numbers of each address
   */
  constructor(store: Store, prefix: string) {
    this.#prefix = prefix;
    for (const { key, object } of store.entries("pods")) {
      const address = typed<Pod>(object).status?.podIP ?? "";
      const [high, low] = address.startsWith(`${prefix}.`) ? address.split(".").slice(2) : [];
      if (high !== undefined && low !== undefined) this.#give(key, Number(high) * 256 + Number(low));
    }
  }

  /** A pod's address, the same every time. @throws RangeError if there are none left */
  of(key: string): string {
    let number = this.#byKey.get(key);
    if (number === undefined) {
      if (this.#taken.size > last - first) throw new RangeError("there are no pod addresses left");
      while (this.#taken.has(this.#next)) this.#next = this.#next === last ? first : this.#next + 1;
      number = this.#next;
      this.#give(key, number);
    }
    return `${this.#prefix}.${number >> 8}.${number & 255}`;
  }

  free(key: string): void {
    const number = this.#byKey.get(key);
    if (number === undefined) return;
    this.#byKey.delete(key);
    this.#taken.delete(number);
  }

  #give(key: string, number: number): void {
    this.#byKey.set(key, number);
    this.#taken.add(number);
    this.#next = number === last ? first : number + 1;
  }
}
