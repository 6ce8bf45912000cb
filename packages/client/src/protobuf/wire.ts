/** Bytes that are not the message they should be. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

// The wire types that Kubernetes' messages have.
export const VARINT = 0;
/** The wire type of eight bytes. */
export const FIXED64 = 1;
/** The wire type of bytes that follow their length. */
export const DELIMITED = 2;
const FIXED32 = 5;

/** Goes through the bytes of a message from one value to the next. */
export class WireCursor {
  bytes: Buffer;
  /** Where the next byte is read. */
  at = 0;
  /** Where the field that `next` found ends. */
  fieldEnd = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /**
   * A number of up to 64 bits, negative ones in two's complement. Beyond what a double holds it is
   * rounded, as JSON's are.
   */
  varint(end: number): number {
    const bytes = this.bytes;
    let at = this.at;
    let byte = at < end ? (bytes[at++] as number) : this.#short();
    if (byte < 0x80) {
      this.at = at;
      return byte;
    }
    let low = byte & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      byte = at < end ? (bytes[at++] as number) : this.#short();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return low;
      }
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      byte = at < end ? (bytes[at++] as number) : this.#short();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return Number(BigInt.asIntN(64, value));
      }
    }
    throw new MalformedMessageError("a number out of range");
  }

  /**
   * Finds the next field that has bytes; numbers are passed over. The bytes begin where the next
   * one is read; the next field begins at `fieldEnd`.
   *
   * @returns its number; 0 if there is none before `end`.
   */
  next(end: number): number {
    while (this.at < end) {
      const tag = this.varint(end);
      if ((tag & 7) === DELIMITED) {
        this.fieldEnd = this.delimited(end);
        return tag >>> 3;
      }
      this.skip(tag & 7, end);
    }
    return 0;
  }

  /**
   * The last text under a field's number, from here to the end of a message; empty if there is
   * none.
   */
  text(wanted: number, end: number): string {
    let found = "";
    for (let number = this.next(end); number !== 0; number = this.next(end)) {
      if (number === wanted) found = this.bytes.toString("utf8", this.at, this.fieldEnd);
      this.at = this.fieldEnd;
    }
    return found;
  }

  /**
   * Reads a length.
   *
   * @returns where what it is the length of ends; it starts where the next byte is read.
   */
  delimited(end: number): number {
    const length = this.varint(end);
    if (length < 0 || length > end - this.at) throw new MalformedMessageError("it ends in the middle");
    return this.at + length;
  }

  take(length: number, end: number): number {
    const start = this.at;
    if (end - start < length) this.#short();
    this.at = start + length;
    return start;
  }

  skip(wireType: number, end: number): void {
    if (wireType === VARINT) this.varint(end);
    else if (wireType === DELIMITED) this.at = this.delimited(end);
    else if (wireType === FIXED64) this.take(8, end);
    else if (wireType === FIXED32) this.take(4, end);
    else throw new MalformedMessageError(`wire type ${wireType}, which no Kubernetes message has`);
  }

  #short(): never {
    throw new MalformedMessageError("it ends in the middle");
  }
}
