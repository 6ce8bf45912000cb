import { delimited, fixed64, varint } from "./wire.ts";

/** Builds a message field by field, in the order they are given. */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts, this.#length);
  }

  /** An integer of any width, negative ones in ten bytes. */
  integer(number: number, value: number): this {
    this.#tag(number, varint);
    this.#varint(BigInt.asUintN(64, BigInt(value)));
    return this;
  }

  double(number: number, value: number): this {
    this.#tag(number, fixed64);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#push(bytes);
    return this;
  }

  text(number: number, value: string): this {
    return this.raw(number, Buffer.from(value, "utf8"));
  }

  raw(number: number, value: Uint8Array): this {
    this.#tag(number, delimited);
    this.#varint(BigInt(value.length));
    this.#push(value);
    return this;
  }

  message(number: number, message: WireWriter): this {
    this.#tag(number, delimited);
    this.#varint(BigInt(message.#length));
    for (const part of message.#parts) this.#push(part);
    return this;
  }

  #tag(number: number, wireType: number): void {
    this.#varint(BigInt(number * 8 + wireType));
  }

  #varint(value: bigint): void {
    const digits: number[] = [];
    let rest = value;
    while (rest >= 0x80n) {
      digits.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#push(Uint8Array.of(...digits, Number(rest)));
  }

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}
