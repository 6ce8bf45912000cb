import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { mappedMemory, type Parcel, Slabs } from "./slabs.ts";
import type { StoredObject } from "./stored-object.ts";

/** Some dozens of kilobytes: enough for objects of a kind to share what they have in common, little enough to unpack for one read. */
const CHUNK_BYTES = 64 << 10;
/** An object larger than this gets a chunk of its own. */
const LARGE_OBJECT = CHUNK_BYTES >> 1;
/** How many chunks may lie mostly unused before some are emptied without waiting for new objects. */
const SPARSE_CHUNKS = 64;
/** How many chunks stay unpacked after a read: neighbours are often read together. */
const UNPACKED_CHUNKS = 16;

const fastest = { [constants.ZSTD_c_compressionLevel]: 1 };

/** A piece of memory that holds the bytes of some objects, one after the other. Once full it is packed, and unpacked to be read. */
export class Chunk {
  used = 0;
  /** Bytes of objects that are still held. */
  live = 0;
  readonly objects: StoredObject[] = [];
  #plain: Buffer | undefined;
  #packed: Parcel | undefined;

  constructor(plain: Buffer) {
    this.#plain = plain;
  }

  /** Bytes taken from the system but for the packed ones. */
  get plainBytes(): number {
    return this.#plain?.length ?? 0;
  }

  get isPlain(): boolean {
    return this.#plain !== undefined;
  }

  /** The bytes of all objects. Not to be changed but beyond what is used. */
  get bytes(): Buffer {
    this.#plain ??= zstdDecompressSync(this.#packed?.bytes ?? nothing, { chunkSize: this.used });
    return this.#plain;
  }

  /** @returns the memory that is free now. */
  pack(slabs: Slabs): Buffer {
    const plain = this.bytes;
    // A compressor that knows the size takes tables to match, and needs room for one piece of output only.
    const size = { pledgedSrcSize: this.used, chunkSize: this.used };
    this.#packed = slabs.put(zstdCompressSync(plain.subarray(0, this.used), { params: fastest, ...size }));
    this.#plain = undefined;
    return plain;
  }

  /** Nothing in it is cached any more. */
  drop(slabs: Slabs): void {
    if (this.#packed) slabs.release(this.#packed);
  }

  /** Keeps only the packed form, if there is one. */
  fold(): void {
    if (this.#packed) this.#plain = undefined;
  }
}

const nothing = Buffer.alloc(0);

/**
 * Where the bytes of cached objects live: outside the JavaScript heap, so that the garbage collector neither scans nor moves them, and
 * packed, since objects of a kind have much in common. A chunk that nothing uses is given back; one of which less than half is in use is
 * emptied into the current one as new objects come.
 *
 * Bytes are never overwritten. Whoever still holds an object that was replaced can read it; its chunk lives as long.
 */
export class Arena {
  readonly #packs: boolean;
  readonly #slabs = new Slabs();
  #current: Chunk = newChunk(CHUNK_BYTES);
  readonly #chunks = new Set<Chunk>([this.#current]);
  /** Chunks of which less than half is in use. */
  readonly #sparse = new Set<Chunk>();
  #isEvacuating = false;
  /** Packed chunks that were read lately, as a ring. */
  readonly #unpacked: (Chunk | undefined)[] = [];
  #turn = 0;

  constructor(options: { readonly packs: boolean }) {
    this.#packs = options.packs;
  }

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    let sum = this.#slabs.reservedBytes;
    for (const chunk of this.#chunks) sum += chunk.plainBytes;
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
    if (length > LARGE_OBJECT && this.#packs) chunk.pack(this.#slabs);
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
    if (chunk === this.#current) return;
    if (chunk.live === 0) {
      this.#chunks.delete(chunk);
      this.#sparse.delete(chunk);
      chunk.drop(this.#slabs);
      return;
    }
    if (chunk.live * 2 >= chunk.used) return;
    this.#sparse.add(chunk);
    if (this.#sparse.size > SPARSE_CHUNKS && this.#sparse.size * 2 > this.#chunks.size) this.#evacuateSome(1);
  }

  #room(length: number): Chunk {
    if (length > LARGE_OBJECT) {
      const chunk = newChunk(length);
      this.#chunks.add(chunk);
      return chunk;
    }
    if (CHUNK_BYTES - this.#current.used < length) {
      this.#turnOver();
      this.#evacuateSome(2);
    }
    return CHUNK_BYTES - this.#current.used < length ? this.#room(length) : this.#current;
  }

  /** The current chunk is full: packs it and starts another. */
  #turnOver(): void {
    const full = this.#current;
    const memory = this.#packs && full.live > 0 ? full.pack(this.#slabs) : undefined;
    this.#current = memory ? new Chunk(memory) : newChunk(CHUNK_BYTES);
    this.#chunks.add(this.#current);
    if (full.live === 0) this.#chunks.delete(full);
    else if (full.live * 2 < full.used) this.#sparse.add(full);
  }

  #evacuateSome(count: number): void {
    if (this.#isEvacuating) return;
    this.#isEvacuating = true;
    for (const chunk of this.#sparse.values().take(count)) this.#evacuate(chunk);
    this.#isEvacuating = false;
  }

  #evacuate(chunk: Chunk): void {
    this.#sparse.delete(chunk);
    this.#chunks.delete(chunk);
    for (const object of chunk.objects) {
      if (!object.isHeld || object.chunk !== chunk) continue;
      const { start, length } = object;
      const room = this.#room(length);
      const at = room.used;
      chunk.bytes.copy(room.bytes, at, start, start + length);
      own(room, object, at, length);
      if (length > LARGE_OBJECT && this.#packs) room.pack(this.#slabs);
    }
    chunk.objects.length = 0;
    chunk.fold();
    chunk.drop(this.#slabs);
  }
}

function newChunk(bytes: number): Chunk {
  return new Chunk(mappedMemory(bytes));
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
