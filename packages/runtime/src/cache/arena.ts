import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type ByteRange, mappedMemory, Slabs } from "./slabs.ts";

/**
 * Some dozens of kilobytes: enough for objects of a kind to share what they have in common, little
 * enough to unpack for one read.
 */
const PACKED_CHUNK_BYTES = 64 << 10;
/** What is not unpacked to be read may as well be in few large pieces. */
const PLAIN_CHUNK_BYTES = 512 << 10;
/** An object larger than this gets a chunk of its own. */
const LARGE_OBJECT = 32 << 10;
/**
 * How many chunks may lie mostly unused before some are emptied without waiting for new objects.
 */
const SPARSE_CHUNKS = 64;
/** How many chunks stay unpacked after a read: neighbours are often read together. */
const UNPACKED_CHUNKS = 16;

const fastest = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Bytes that are to be stored. */
export interface Content {
  readonly isJson: boolean;
  readonly length: number;
  copyTo(into: Buffer, at: number): void;
}

/** Where an object's bytes are. The arena that holds them moves them. */
export interface Placed {
  chunk: Chunk;
  start: number;
  length: number;
  isHeld: boolean;
}

/**
 * A piece of memory that holds the bytes of some objects, one after the other. Once full it is
 * packed, and unpacked to be read.
 */
export class Chunk {
  used = 0;
  /** Bytes of objects that are still held. */
  live = 0;
  readonly objects: Placed[] = [];
  /** Which arena it is part of, if any. */
  readonly home: Arena | undefined;
  #plain: Buffer | undefined;
  #packed: ByteRange | undefined;

  constructor(plain: Buffer, home?: Arena) {
    this.#plain = plain;
    this.home = home;
  }

  /** Bytes taken from the system, without the packed ones. */
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
    // A compressor that knows the size takes tables to match, and needs room for one piece of
    // output only.
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
 * Where the bytes of cached objects live: outside the JavaScript heap, so that the garbage
 * collector neither scans nor moves them, and packed, since objects of a kind have much in common.
 * A chunk that nothing uses is given back; one of which less than half is in use is emptied into
 * the current one as new objects come.
 *
 * Bytes are never overwritten. Code that still holds an object that was replaced can read it; its
 * chunk lives as long.
 */
export class Arena {
  readonly #packs: boolean;
  readonly #slabs = new Slabs();
  readonly #chunkBytes: number;
  #current: Chunk;
  readonly #chunks = new Set<Chunk>();
  /** Chunks of which less than half is in use. */
  readonly #sparse = new Set<Chunk>();
  #isEvacuating = false;
  /** Packed chunks that were read lately, as a ring. */
  readonly #unpacked: (Chunk | undefined)[] = [];
  #turn = 0;

  constructor(options: { readonly packs: boolean }) {
    this.#packs = options.packs;
    this.#chunkBytes = options.packs ? PACKED_CHUNK_BYTES : PLAIN_CHUNK_BYTES;
    // The first that is stored makes room.
    this.#current = new Chunk(nothing, this);
    this.#current.used = this.#chunkBytes;
  }

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    let sum = this.#slabs.reservedBytes;
    for (const chunk of this.#chunks) sum += chunk.plainBytes;
    return sum;
  }

  /** Copies bytes, and makes them the object's own. */
  store(object: Placed, content: Content): void {
    const { length } = content;
    const chunk = this.#room(length);
    const at = chunk.used;
    content.copyTo(chunk.bytes, at);
    own(chunk, object, at, length);
    if (length > LARGE_OBJECT && this.#packs) chunk.pack(this.#slabs);
  }

  /** The object's bytes, which must not be changed. */
  read(object: Placed): Buffer {
    const { chunk, start, length } = object;
    if (!chunk.isPlain) {
      this.#unpacked[this.#turn]?.fold();
      this.#unpacked[this.#turn] = chunk;
      this.#turn = (this.#turn + 1) % UNPACKED_CHUNKS;
    }
    return chunk.bytes.subarray(start, start + length);
  }

  /** The object is no longer cached: its room may be used for others. */
  release(object: Placed): void {
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
      const chunk = new Chunk(mappedMemory(length), this);
      this.#chunks.add(chunk);
      return chunk;
    }
    if (this.#chunkBytes - this.#current.used < length) {
      this.#turnOver();
      this.#evacuateSome(2);
    }
    return this.#chunkBytes - this.#current.used < length ? this.#room(length) : this.#current;
  }

  /** The current chunk is full: packs it and starts another. */
  #turnOver(): void {
    const full = this.#current;
    const memory = this.#packs && full.live > 0 ? full.pack(this.#slabs) : undefined;
    this.#current = new Chunk(memory ?? mappedMemory(this.#chunkBytes), this);
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

/**
 * The arenas of a cache. JSON is kept packed, for it shrinks to a fraction; messages are not: they
 * hold little besides what differs, and what packing them would save costs more time than
 * everything else that is done with them.
 */
export class Arenas {
  readonly #json: Arena;
  readonly #messages: Arena;

  /** @param options.packs whether to pack what is stored. @default JSON only */
  constructor(options: { readonly packs?: boolean | undefined }) {
    this.#json = new Arena({ packs: options.packs ?? true });
    this.#messages = new Arena({ packs: options.packs ?? false });
  }

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    return this.#json.reservedBytes + this.#messages.reservedBytes;
  }

  store(object: Placed, content: Content): void {
    (content.isJson ? this.#json : this.#messages).store(object, content);
  }

  read(object: Placed): Buffer {
    const { chunk, start, length } = object;
    return chunk.home?.read(object) ?? chunk.bytes.subarray(start, start + length);
  }

  release(object: Placed): void {
    object.chunk.home?.release(object);
  }
}

function own(chunk: Chunk, object: Placed, start: number, length: number): void {
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
  store(object, content) {
    const kept = Buffer.allocUnsafe(content.length);
    content.copyTo(kept, 0);
    object.chunk = new Chunk(kept);
    object.start = 0;
    object.length = kept.length;
  },
};

/** Owned by objects whose bytes are yet to come. */
export const nowhere = new Chunk(nothing);
