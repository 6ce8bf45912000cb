/** Frames of HTTP/2 as they are sent, for what Node's own client and server refuse to send. */

const types = { data: 0, headers: 1, rst: 3, settings: 4, goaway: 7 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const settings = frame(types.settings, 0, 0, Buffer.alloc(0));

/** The fields of a message, each in full. */
export function headers(
  stream: number,
  fields: readonly (readonly [name: string, value: string])[],
  isEnd: boolean,
): Buffer {
  const block = fields.map(([name, value]) =>
    Buffer.concat([
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  );
  return frame(types.headers, END_HEADERS | (isEnd ? END_STREAM : 0), stream, Buffer.concat(block));
}

export function data(stream: number, text: string): Buffer {
  return frame(types.data, 0, stream, Buffer.from(text));
}

/** The frames of what was received, as `name(stream)`; those without a name here are left out. */
export function framesIn(bytes: Buffer): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const name = Object.entries(types).find(([, type]) => type === bytes[at + 3])?.[0];
    if (name) found.push(`${name}(${bytes.readUInt32BE(at + 5)})`);
  }
  return found;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
