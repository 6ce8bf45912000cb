import type { Writable } from "node:stream";

/** As much as is read at once. */
const COPY_BYTES = 64 * 1024;
/** How much memory is kept for the next copies. */
const MOST_FREE = 64;

/**
 * Writes bytes whose memory is about to be used again. What they are copied into is used again too,
 * as soon as they are sent: left to garbage collection, a large response would take a hundred
 * megabytes by and by.
 */
export class Copies {
  readonly #free: Buffer[] = [];
  #made = 0;

  /** How many pieces of memory there are, in use or not, or were at some time. */
  get made(): number {
    return this.#made;
  }

  write(to: Writable, bytes: Buffer, start: number, end: number): void {
    if (end - start > COPY_BYTES) {
      to.write(Buffer.from(bytes.subarray(start, end)));
      return;
    }
    const memory = this.#free.pop() ?? this.#make();
    const length = bytes.copy(memory, 0, start, end);
    // Called once, also for what is never sent.
    to.write(memory.subarray(0, length), () => {
      if (this.#free.length < MOST_FREE) this.#free.push(memory);
    });
  }

  #make(): Buffer {
    this.#made += 1;
    return Buffer.allocUnsafeSlow(COPY_BYTES);
  }
}
