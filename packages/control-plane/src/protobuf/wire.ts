/** Bytes that are no protobuf message. The message is the one Go's decoder gives. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** One field as it is on the wire: a number for wire type 0, bytes for the others. */
export interface WireField {
  readonly number: number;
  readonly wireType: number;
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

export const varint = 0;
export const fixed64 = 1;
export const delimited = 2;
const startGroup = 3;
const endGroup = 4;
const fixed32 = 5;

const none = new Uint8Array(0);

/**
 * The fields of a message, in order. Groups, which no Kubernetes type uses, are passed over.
 *
 * @throws {WireError} at the first byte that cannot be read.
 */
export function* readFields(message: Uint8Array): Generator<WireField> {
  const reader = new Reader(message);
  while (!reader.isDone) {
    const field = reader.field();
    if (field.wireType === startGroup) reader.skipGroup();
    else yield field;
  }
}

/** The numbers of a packed list. */
export function* readPacked(bytes: Uint8Array): Generator<bigint> {
  const reader = new Reader(bytes);
  while (!reader.isDone) yield reader.varint();
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  field(): WireField {
    const tag = this.varint();
    const number = Number(BigInt.asIntN(32, tag >> 3n));
    const wireType = Number(tag & 7n);
    if (number <= 0) throw new WireError(`proto: illegal tag ${number} (wire type ${wireType})`);
    switch (wireType) {
      case varint:
        return { number, wireType, value: this.varint(), bytes: none };
      case fixed64:
        return { number, wireType, value: 0n, bytes: this.#take(8) };
      case fixed32:
        return { number, wireType, value: 0n, bytes: this.#take(4) };
      case delimited:
        return { number, wireType, value: 0n, bytes: this.#take(this.#length()) };
      case startGroup:
      case endGroup:
        return { number, wireType, value: 0n, bytes: none };
      default:
        throw new WireError(`proto: illegal wireType ${wireType}`);
    }
  }

  skipGroup(): void {
    for (let depth = 1; depth > 0; ) {
      const { wireType } = this.field();
      if (wireType === startGroup) depth++;
      else if (wireType === endGroup) depth--;
    }
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new WireError("unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError("proto: integer overflow");
  }

  #length(): number {
    const length = BigInt.asIntN(64, this.varint());
    if (length < 0n) throw new WireError("proto: negative length found during unmarshaling");
    if (length > BigInt(this.#bytes.length - this.#at)) throw new WireError("unexpected EOF");
    return Number(length);
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new WireError("unexpected EOF");
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}
