/**
 * Beyond this many unread bytes, the connection is paused until the caller reads them.
 */
const MOST_WAITING_BYTES = 256 * 1024;

/** A body of known length up to this is given in one piece. */
const LARGEST_WHOLE = 1024 * 1024;

/** The smallest buffer for unread bytes. */
const SMALLEST_ROOM = 16 * 1024;

/** What is known of a body before it is read. */
export interface BodyOptions {
  /** How many bytes will come, where that is known. */
  readonly length: number | undefined;
  /**
   * Whether a chunk is valid only until the next one is asked for. For readers that copy what they
   * keep: a long stream then goes through the same two pieces of memory.
   */
  readonly borrowed: boolean;
}

/** Where a body comes from. */
export interface BodySource {
  /** The reader starts to wait for bytes. */
  bodyAwaited(): void;
  /** A reader that waited has something to read: bytes, the end, or an error. */
  bodyArrived(): void;
  /** There is room again after `push` said that there was none. */
  bodyHasRoom(): void;
  /** The reader leaves before the end. */
  bodyLeft(): void;
}

/**
 * The body of a response, between its connection and its one reader. What arrives while the reader
 * is busy is concatenated, so that a stream of many small pieces is read in few large ones.
 */
export class ResponseBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: BodySource;
  readonly #isBorrowed: boolean;
  readonly #isWhole: boolean;
  #waiting: Buffer | undefined;
  #length = 0;
  /** The chunk that the reader has, where chunks are borrowed. */
  #lent: Buffer | undefined;
  #isFull = false;
  #isWaking = false;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor({ length, borrowed }: BodyOptions, source: BodySource) {
    this.#source = source;
    this.#isBorrowed = borrowed;
    this.#isWhole = length !== undefined && length > 0 && length <= LARGEST_WHOLE;
    if (this.#isWhole) this.#waiting = Buffer.allocUnsafe(length as number);
  }

  /** Adds bytes, which are copied. @returns whether there is room for more. */
  push(bytes: Buffer, start: number, end: number): boolean {
    if (this.#isOver) return true;
    this.#append(bytes, start, end);
    if (this.#isWhole) return true;
    if (this.#reader) this.#wakeSoon();
    this.#isFull = this.#length >= MOST_WAITING_BYTES;
    return !this.#isFull;
  }

  /** All bytes were added. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
  }

  /**
   * No more bytes will come. The reader gets the error after those that are there; of a body given
   * in one piece, at once.
   */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = { error };
    if (this.#isWhole) this.#length = 0;
    this.#wake();
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const reader = Promise.withResolvers<IteratorResult<Uint8Array>>();
    this.#reader = reader;
    if (this.#isOver || (this.#length > 0 && !this.#isWhole)) this.#give();
    else this.#source.bodyAwaited();
    return reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#length = 0;
    this.#failure = undefined;
    if (!this.#isOver) {
      this.#isOver = true;
      this.#source.bodyLeft();
    }
    // Otherwise a reader that waits for bytes while another one leaves would wait indefinitely.
    this.#wake();
    return Promise.resolve(end);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #append(bytes: Buffer, start: number, end: number): void {
    const needed = this.#length + end - start;
    if (!this.#waiting || this.#waiting.length < needed) {
      const larger = Buffer.allocUnsafe(roomFor(needed));
      this.#waiting?.copy(larger, 0, 0, this.#length);
      this.#waiting = larger;
    }
    bytes.copy(this.#waiting, this.#length, start, end);
    this.#length = needed;
  }

  /** Once all that came in this turn of the event loop is there: it may be many small pieces. */
  #wakeSoon(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    setImmediate(() => {
      this.#isWaking = false;
      this.#wake();
    });
  }

  #wake(): void {
    if (!this.#reader) return;
    this.#source.bodyArrived();
    this.#give();
  }

  #give(): void {
    const reader = this.#reader;
    if (!reader) return;
    this.#reader = undefined;
    if (this.#length > 0) {
      reader.resolve({ done: false, value: this.#takeWaiting() });
      return;
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) reader.reject(failure.error);
    else reader.resolve(end);
  }

  #takeWaiting(): Buffer {
    const chunk = (this.#waiting as Buffer).subarray(0, this.#length);
    this.#length = 0;
    if (this.#isBorrowed) [this.#waiting, this.#lent] = [this.#lent, this.#waiting];
    else this.#waiting = undefined;
    if (this.#isFull) {
      this.#isFull = false;
      this.#source.bodyHasRoom();
    }
    return chunk;
  }
}

/** The next power of two, so that bytes are moved rarely. */
function roomFor(bytes: number): number {
  let room = SMALLEST_ROOM;
  while (room < bytes) room *= 2;
  return room;
}

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
