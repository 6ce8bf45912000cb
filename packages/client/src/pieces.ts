/** Finds the pieces of a stream in its chunks. */
export interface Cutter {
  /** Takes a chunk, which is valid during the call and while what was found in it is read. */
  take(chunk: Buffer, found: Buffer[]): void;
  /** The stream ended. */
  end(found: Buffer[]): void;
}

/**
 * Cuts a byte stream into pieces. Chunks need be valid only until the next one is asked for, and so
 * may share their memory; a piece is valid until the next one is asked for.
 */
export function cutStream(chunks: AsyncIterable<Uint8Array>, cutter: Cutter): AsyncIterableIterator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const ready: Buffer[] = [];
  let at = 0;
  let ended = false;

  const refill = async (): Promise<IteratorResult<Buffer>> => {
    while (at === ready.length) {
      ready.length = 0;
      at = 0;
      if (ended) return { done: true, value: undefined };
      const step = await source.next();
      if (step.done) {
        ended = true;
        cutter.end(ready);
      } else cutter.take(Buffer.from(step.value.buffer, step.value.byteOffset, step.value.byteLength), ready);
    }
    return { done: false, value: ready[at++] as Buffer };
  };

  return {
    next() {
      const value = ready[at];
      if (!value) return refill();
      at += 1;
      return Promise.resolve({ done: false, value });
    },
    async return() {
      ended = true;
      ready.length = 0;
      at = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The beginning of a piece whose end has not come yet. */
export class Remainder {
  #parts: Buffer[] = [];
  length = 0;

  /** Copies bytes. */
  add(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** All that was added and then these, in one piece. Nothing is left. */
  complete(end: Buffer): Buffer {
    if (this.length === 0) return end;
    const whole = Buffer.concat([...this.#parts, end], this.length + end.length);
    this.#parts = [];
    this.length = 0;
    return whole;
  }
}
