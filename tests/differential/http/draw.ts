import { seededRandom } from "../../../packages/clock/src/index.ts";

/** Draws from a seeded source: the same seed gives the same sequence. */
export class Draw {
  readonly #random: { next(): number };

  #serial = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  maybe<T extends object>(probability: number, value: () => T): T | Record<string, never> {
    return this.chance(probability) ? value() : {};
  }

  /** A letter that was not given before. */
  letter(): string {
    return String.fromCharCode("a".charCodeAt(0) + this.#serial++);
  }

  /** Some of them, in their order. */
  some<T>(choices: readonly T[], probability: number): T[] {
    return choices.filter(() => this.chance(probability));
  }
}
