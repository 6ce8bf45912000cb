import { delimited, fixed64, varint } from "./wire.ts";

/**
 * Builds a message from its end to its start: the last field is written first. A message's length
 * is known by then, so nothing is measured beforehand and nothing is copied but once, at the end.
 */
export class BackwardWriter {
  #buffer: Buffer = Buffer.allocUnsafe(1_024);
  #at = 1_024;

  /** How much was written so far. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  /** What was written, as bytes of their own. */
  bytes(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#buffer, this.#at);
  }

  /** An integer of any width, negative ones in ten bytes. */
  integer(number: number, value: number | bigint): void {
    if (typeof value === "bigint") this.#wideVarint(BigInt.asUintN(64, value));
    else if (value >= 0 && value <= 0x7f) {
      this.#room(1);
      this.#buffer[--this.#at] = value;
    } else if (value >= 0 && value <= 0xffff_ffff) this.#varint(value);
    else this.#wideVarint(BigInt.asUintN(64, BigInt(Math.trunc(value))));
    this.#tag(number, varint);
  }

  double(number: number, value: number): void {
    this.#room(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#tag(number, fixed64);
  }

  text(number: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#room(length);
    this.#at -= length;
    this.#buffer.write(value, this.#at, length, "utf8");
    this.#varint(length);
    this.#tag(number, delimited);
  }

  raw(number: number, value: Uint8Array): void {
    this.prepend(value);
    this.#varint(value.length);
    this.#tag(number, delimited);
  }

  /** Turns what was written since the length was `end` into a field. */
  close(number: number, end: number): void {
    this.#varint(this.length - end);
    this.#tag(number, delimited);
  }

  /** Bytes that are fields already, or no message at all. */
  prepend(value: Uint8Array): void {
    this.#room(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
  }

  #tag(number: number, wireType: number): void {
    this.#varint(number * 8 + wireType);
  }

  #varint(value: number): void {
    const size = value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
    this.#room(size);
    this.#at -= size;
    let at = this.#at;
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[at] = rest;
  }

  #wideVarint(value: bigint): void {
    const digits: number[] = [];
    let rest = value;
    while (rest >= 0x80n) {
      digits.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.prepend(Uint8Array.of(...digits, Number(rest)));
  }

  #room(size: number): void {
    if (size <= this.#at) return;
    const used = this.length;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + size));
    this.#buffer.copy(grown, grown.length - used, this.#at);
    this.#buffer = grown;
    this.#at = grown.length - used;
  }
}
