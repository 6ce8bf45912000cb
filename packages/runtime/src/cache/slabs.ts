const SLAB_BYTES = 4 << 20;
/** What is larger is allocated by itself. */
const LARGE_PARCEL = SLAB_BYTES >> 3;

/**
 * Memory that the system maps by itself, page by page as it is written to, apart from all that the
 * process allocates and frees. Kept bytes that lie among passing ones (what the network reads, say)
 * would keep those from being given back.
 */
export function mappedMemory(bytes: number): Buffer {
  // A buffer that can be resized is the one kind that is not taken from the allocator all others
  // share.
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }));
}

interface Slab {
  readonly memory: Buffer;
  used: number;
  /** Bytes of parcels that were not released. */
  live: number;
  readonly parcels: Set<ByteRange>;
}

/** Some bytes that are kept. They may be moved, never changed: read `bytes` again each time. */
export class ByteRange {
  bytes: Buffer;
  slab: Slab | undefined;

  constructor(bytes: Buffer, slab: Slab | undefined) {
    this.bytes = bytes;
    this.slab = slab;
  }
}

/**
 * Keeps pieces of bytes in few large pieces of memory. One of which nothing is in use is given
 * back; of one of which less than half is, the rest is moved to the current one. So at most about
 * half of the memory is idle.
 *
 * The bytes of a released parcel can still be read by its holders.
 */
export class Slabs {
  #current: Slab | undefined;
  readonly #all = new Set<Slab>();
  #largeBytes = 0;

  /** Bytes taken from the system, in use or not. */
  get reservedBytes(): number {
    // Memory of the current slab that was never written to has not been given out by the system
    // either.
    const unused = this.#current ? SLAB_BYTES - this.#current.used : 0;
    return this.#all.size * SLAB_BYTES - unused + this.#largeBytes;
  }

  /** Copies bytes. */
  put(bytes: Buffer): ByteRange {
    if (bytes.length > LARGE_PARCEL) {
      this.#largeBytes += bytes.length;
      const copy = mappedMemory(bytes.length);
      bytes.copy(copy);
      return new ByteRange(copy, undefined);
    }
    const parcel = new ByteRange(bytes, undefined);
    this.#place(parcel);
    return parcel;
  }

  /** The bytes are no longer kept. Once for each parcel. */
  release(parcel: ByteRange): void {
    const { slab } = parcel;
    if (!slab) {
      this.#largeBytes -= parcel.bytes.length;
      return;
    }
    slab.live -= parcel.bytes.length;
    slab.parcels.delete(parcel);
    if (slab === this.#current || slab.live * 2 >= slab.used) return;
    this.#all.delete(slab);
    for (const other of slab.parcels) this.#place(other);
    slab.parcels.clear();
  }

  #place(parcel: ByteRange): void {
    const { length } = parcel.bytes;
    let slab = this.#current;
    if (!slab || SLAB_BYTES - slab.used < length) {
      if (slab && slab.live === 0) this.#all.delete(slab);
      slab = { memory: mappedMemory(SLAB_BYTES), used: 0, live: 0, parcels: new Set() };
      this.#current = slab;
      this.#all.add(slab);
    }
    parcel.bytes.copy(slab.memory, slab.used);
    parcel.bytes = slab.memory.subarray(slab.used, slab.used + length);
    parcel.slab = slab;
    slab.used += length;
    slab.live += length;
    slab.parcels.add(parcel);
  }
}
