import type { StoredObject } from "./stored-object.ts";

/** A piece of memory that holds the bytes of many objects, one after the other. */
export interface Chunk {
  readonly buffer: Buffer;
  used: number;
  /** Bytes of objects that are still held. */
  live: number;
  readonly objects: StoredObject[];
}

/** Large enough that its own overhead does not show, small enough to move within a millisecond. */
const CHUNK_BYTES = 1 << 20;
/** An object larger than this gets a chunk of its own. */
const LARGE_OBJECT = CHUNK_BYTES >> 2;

/**
 * Where the bytes of cached objects live: outside the JavaScript heap, so that the garbage collector neither scans nor
 * moves them. A chunk of which less than half is in use is emptied into the current one and given back.
 *
 * Bytes are never overwritten. Whoever still holds an object that was replaced can read it; its chunk lives as long.
 */
export class Arena {
  #current: Chunk = newChunk(CHUNK_BYTES);
  readonly #chunks = new Set<Chunk>([this.#current]);

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    let sum = 0;
    for (const chunk of this.#chunks) sum += chunk.buffer.length;
    return sum;
  }

  /** Copies what stands from `start` to `end`, but for what stands from `cutStart` to `cutEnd`, and makes it the object's own. */
  store(
    object: StoredObject,
    bytes: Buffer,
    start: number,
    end: number,
    cutStart: number,
    cutEnd: number,
  ): void {
    const head = cutEnd > cutStart ? cutStart : end;
    const length = end - start - (cutEnd - cutStart);
    const chunk = this.#room(length);
    const at = chunk.used;
    bytes.copy(chunk.buffer, at, start, head);
    if (head < end) bytes.copy(chunk.buffer, at + head - start, cutEnd, end);
    own(chunk, object, at, length);
  }

  /** The object is no longer cached: its room may be used for others. */
  release(object: StoredObject): void {
    if (!object.isHeld) return;
    object.isHeld = false;
    const { chunk } = object;
    chunk.live -= object.length;
    if (chunk !== this.#current && chunk.live * 2 < chunk.used) this.#evacuate(chunk);
  }

  #room(length: number): Chunk {
    if (length > LARGE_OBJECT) {
      const chunk = newChunk(length);
      this.#chunks.add(chunk);
      return chunk;
    }
    if (this.#current.buffer.length - this.#current.used < length) {
      const full = this.#current;
      this.#current = newChunk(CHUNK_BYTES);
      this.#chunks.add(this.#current);
      if (full.live * 2 < full.used) this.#evacuate(full);
      if (this.#current.buffer.length - this.#current.used < length) return this.#room(length);
    }
    return this.#current;
  }

  #evacuate(chunk: Chunk): void {
    this.#chunks.delete(chunk);
    for (const object of chunk.objects) {
      if (!object.isHeld || object.chunk !== chunk) continue;
      const room = this.#room(object.length);
      chunk.buffer.copy(room.buffer, room.used, object.start, object.start + object.length);
      own(room, object, room.used, object.length);
    }
    chunk.objects.length = 0;
  }
}

function newChunk(bytes: number): Chunk {
  return { buffer: Buffer.allocUnsafeSlow(bytes), used: 0, live: 0, objects: [] };
}

function own(chunk: Chunk, object: StoredObject, start: number, length: number): void {
  object.chunk = chunk;
  object.start = start;
  object.length = length;
  object.isHeld = true;
  chunk.used += length;
  chunk.live += length;
  chunk.objects.push(object);
}

/** Gives each object memory of its own, for those that are only passed on: what was deleted. */
export const loose: Pick<Arena, "store"> = {
  store(object, bytes, start, end, cutStart, cutEnd) {
    const buffer = Buffer.concat([
      bytes.subarray(start, cutEnd > cutStart ? cutStart : start),
      bytes.subarray(cutEnd > cutStart ? cutEnd : start, end),
    ]);
    object.chunk = { buffer, used: buffer.length, live: 0, objects: [] };
    object.start = 0;
    object.length = buffer.length;
  },
};

/** Owned by objects whose bytes are yet to come. */
export const nowhere: Chunk = newChunk(0);
