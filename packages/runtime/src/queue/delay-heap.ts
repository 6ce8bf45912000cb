import type { Entry } from "./entry.ts";

/**
 * Entries that are not due yet, the next one first; of those due at the same time, the one added
 * first.
 */
export class DelayHeap<K> {
  readonly #entries: Entry<K>[] = [];
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  get first(): Entry<K> | undefined {
    return this.#entries[0];
  }

  push(entry: Entry<K>, readyAt: number): void {
    entry.readyAt = readyAt;
    entry.order = this.#order++;
    entry.heapIndex = this.#entries.length;
    this.#entries.push(entry);
    this.#rise(entry);
  }

  /** Moves an entry that is here to an earlier time. */
  advance(entry: Entry<K>, readyAt: number): void {
    entry.readyAt = readyAt;
    this.#rise(entry);
  }

  remove(entry: Entry<K>): void {
    const index = entry.heapIndex;
    const last = this.#entries.pop();
    entry.heapIndex = -1;
    if (!last || last === entry) return;
    this.#place(last, index);
    this.#rise(last);
    this.#sink(last);
  }

  clear(): void {
    this.#entries.length = 0;
  }

  [Symbol.iterator](): Iterator<Entry<K>> {
    return this.#entries[Symbol.iterator]();
  }

  #place(entry: Entry<K>, index: number): void {
    entry.heapIndex = index;
    this.#entries[index] = entry;
  }

  #rise(entry: Entry<K>): void {
    let index = entry.heapIndex;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#entries[above];
      if (!parent || !before(entry, parent)) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(entry, index);
  }

  #sink(entry: Entry<K>): void {
    let index = entry.heapIndex;
    for (;;) {
      let below = 2 * index + 1;
      let child = this.#entries[below];
      const right = this.#entries[below + 1];
      if (child && right && before(right, child)) {
        child = right;
        below += 1;
      }
      if (!child || !before(child, entry)) break;
      this.#place(child, index);
      index = below;
    }
    this.#place(entry, index);
  }
}

function before<K>(a: Entry<K>, b: Entry<K>): boolean {
  return a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.order < b.order);
}
