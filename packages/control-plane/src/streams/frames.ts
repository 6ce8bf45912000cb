/** What a frame carries. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A whole message, or a control frame, that a client sent. */
export type Received =
  | { readonly kind: "text" | "binary"; readonly data: Buffer }
  | { readonly kind: "ping" | "pong"; readonly data: Buffer }
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

/** A client broke the rules of RFC 6455. The connection ends with this code. */
export class FrameError extends Error {
  override readonly name = "FrameError";
  readonly code: number;

  constructor(code: 1002 | 1007 | 1009, message: string) {
    super(message);
    this.code = code;
  }
}

/** No message is longer: what is streamed comes in many. */
export const mostBytes = 4 * 1024 * 1024;
const empty = Buffer.alloc(0);

/** Takes what a client sent apart, however it was cut into pieces on its way. */
export class FrameReader {
  #rest: Buffer = empty;
  /** The parts of a message that is not whole yet. */
  #parts: Buffer[] = [];
  #size = 0;
  #kind: "text" | "binary" | undefined;

  /** @throws FrameError, after which nothing more may be read */
  *read(chunk: Uint8Array): Generator<Received> {
    this.#rest = this.#rest.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    for (let frame = this.#next(); frame; frame = this.#next()) {
      const received = this.#take(frame);
      if (received) yield received;
    }
  }

  #next(): { readonly fin: boolean; readonly opcode: number; readonly data: Buffer } | undefined {
    const bytes = this.#rest;
    const [first, second] = bytes;
    if (first === undefined || second === undefined) return undefined;
    if ((first & 0x70) !== 0) throw new FrameError(1002, "reserved bits are set");
    if ((second & 0x80) === 0) throw new FrameError(1002, "frames from clients must be masked");
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const head = 2 + lengthBytes + 4;
    if (bytes.byteLength < head) return undefined;
    const length =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    const opcode = first & 0x0f;
    const fin = (first & 0x80) !== 0;
    if (opcode >= 8 && (length > 125 || !fin))
      throw new FrameError(1002, "control frames must be short and whole");
    if (length > mostBytes) throw new FrameError(1009, `no message may be longer than ${mostBytes} bytes`);
    if (bytes.byteLength < head + length) return undefined;
    const mask = bytes.subarray(head - 4, head);
    const data = Buffer.from(bytes.subarray(head, head + length));
    for (let index = 0; index < length; index++) data[index] = (data[index] ?? 0) ^ (mask[index & 3] ?? 0);
    this.#rest = bytes.subarray(head + length);
    return { fin, opcode, data };
  }

  #take(frame: {
    readonly fin: boolean;
    readonly opcode: number;
    readonly data: Buffer;
  }): Received | undefined {
    const { fin, opcode, data } = frame;
    switch (opcode) {
      case opcodes.ping:
        return { kind: "ping", data };
      case opcodes.pong:
        return { kind: "pong", data };
      case opcodes.close:
        return readClose(data);
      case opcodes.text:
      case opcodes.binary:
        if (this.#kind) throw new FrameError(1002, "a message began before the last one ended");
        this.#kind = opcode === opcodes.text ? "text" : "binary";
        break;
      case opcodes.continuation:
        if (!this.#kind) throw new FrameError(1002, "a message goes on that never began");
        break;
      default:
        throw new FrameError(1002, `there is no opcode ${opcode}`);
    }
    this.#parts.push(data);
    this.#size += data.byteLength;
    if (this.#size > mostBytes)
      throw new FrameError(1009, `no message may be longer than ${mostBytes} bytes`);
    if (!fin) return undefined;
    const whole = { kind: this.#kind, data: Buffer.concat(this.#parts) };
    this.#parts = [];
    this.#size = 0;
    this.#kind = undefined;
    return whole;
  }
}

function readClose(data: Buffer): Received {
  if (data.byteLength === 0) return { kind: "close", code: 1005, reason: "" };
  if (data.byteLength === 1) throw new FrameError(1002, "a close code has two bytes");
  return { kind: "close", code: data.readUInt16BE(0), reason: data.subarray(2).toString() };
}

/** A frame as servers send them: whole, and not masked. */
export function frame(opcode: number, data: Uint8Array): Buffer {
  const length = data.byteLength;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  if (length < 126) head[1] = length;
  else if (length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, data]);
}
