import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { StoredObject } from "./stored-object.ts";

/** Some dozens of kilobytes: enough for objects of a kind to share what they have in common, little enough to unpack for one read. */
const CHUNK_BYTES = 64 << 10;
/** An object larger than this gets a chunk of its own. */
const LARGE_OBJECT = CHUNK_BYTES >> 1;
/** How many chunks stay unpacked after a read: neighbours are often read together. */
const UNPACKED_CHUNKS = 16;

const fastest = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A piece of memory that holds the bytes of some objects, one after the other. Once full it is packed, and unpacked to be read. */
export class Chunk {
  used = 0;
  /** Bytes of objects that are still held. */
  live = 0;
  readonly objects: StoredObject[] = [];
  #plain: Buffer | undefined;
  #packed: Buffer | undefined;

  constructor(plain: Buffer) {
    this.#plain = plain;
  }

  /** Bytes taken from the system. */
  get reservedBytes(): number {
    return (this.#plain?.length ?? 0) + (this.#packed?.length ?? 0);
  }

  get isPlain(): boolean {
    return this.#plain !== undefined;
  }

  /** The bytes of all objects. Not to be changed but beyond what is used. */
  get bytes(): Buffer {
    this.#plain ??= zstdDecompressSync(this.#packed ?? nothing);
    return this.#plain;
  }

  /** @returns the memory that is free now. */
  pack(): Buffer {
    const plain = this.bytes;
    const packed = zstdCompressSync(plain.subarray(0, this.used), fastest);
    // What comes from the compressor may be a part of something larger.
    this.#packed = Buffer.allocUnsafeSlow(packed.length);
    packed.copy(this.#packed);
    this.#plain = undefined;
    return plain;
  }

  /** Keeps only the packed form, if there is one. */
  fold(): void {
    if (this.#packed) this.#plain = undefined;
  }
}

const nothing = Buffer.alloc(0);

/**
 * Where the bytes of cached objects live: outside the JavaScript heap, so that the garbage collector neither scans nor moves them, and
 * packed, since objects of a kind have much in common. A chunk of which less than half is in use is emptied into the current one and given
 * back.
 *
 * Bytes are never overwritten. Whoever still holds an object that was replaced can read it; its chunk lives as long.
 */
export class Arena {
  readonly #packs: boolean;
  #current: Chunk = newChunk(CHUNK_BYTES);
  readonly #chunks = new Set<Chunk>([this.#current]);
  /** Packed chunks that were read lately, as a ring. */
  readonly #unpacked: (Chunk | undefined)[] = [];
  #turn = 0;

  constructor(options: { readonly packs: boolean }) {
    this.#packs = options.packs;
  }

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    let sum = 0;
    for (const chunk of this.#chunks) sum += chunk.reservedBytes;
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
    bytes.copy(chunk.bytes, at, start, head);
    if (head < end) bytes.copy(chunk.bytes, at + head - start, cutEnd, end);
    own(chunk, object, at, length);
    if (length > LARGE_OBJECT && this.#packs) chunk.pack();
  }

  /** The object's bytes, as text. */
  read(object: StoredObject): string {
    const { chunk, start, length } = object;
    if (!chunk.isPlain) {
      this.#unpacked[this.#turn]?.fold();
      this.#unpacked[this.#turn] = chunk;
      this.#turn = (this.#turn + 1) % UNPACKED_CHUNKS;
    }
    return chunk.bytes.toString("utf8", start, start + length);
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
    while (CHUNK_BYTES - this.#current.used < length) {
      const full = this.#current;
      const isWorthKeeping = full.live * 2 >= full.used;
      this.#current = isWorthKeeping && this.#packs ? new Chunk(full.pack()) : newChunk(CHUNK_BYTES);
      this.#chunks.add(this.#current);
      if (!isWorthKeeping) this.#evacuate(full);
    }
    return this.#current;
  }

  #evacuate(chunk: Chunk): void {
    this.#chunks.delete(chunk);
    for (const object of chunk.objects) {
      if (!object.isHeld || object.chunk !== chunk) continue;
      const { start, length } = object;
      const room = this.#room(length);
      const at = room.used;
      chunk.bytes.copy(room.bytes, at, start, start + length);
      own(room, object, at, length);
      if (length > LARGE_OBJECT && this.#packs) room.pack();
    }
    chunk.objects.length = 0;
    chunk.fold();
  }
}

function newChunk(bytes: number): Chunk {
  return new Chunk(Buffer.allocUnsafeSlow(bytes));
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
    const isCut = cutEnd > cutStart;
    const kept = Buffer.concat([
      bytes.subarray(start, isCut ? cutStart : start),
      bytes.subarray(isCut ? cutEnd : start, end),
    ]);
    object.chunk = new Chunk(kept);
    object.start = 0;
    object.length = kept.length;
  },
};

/** Owned by objects whose bytes are yet to come. */
export const nowhere = new Chunk(nothing);
