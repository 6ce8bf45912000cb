function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return Buffer.from(bytes);
}

/** A message of protobuf. Fields by their numbers; a list stands for a field that is repeated. */
export function encode(
  fields: Readonly<Record<number, number | string | Uint8Array | readonly (string | Uint8Array)[]>>,
): Buffer {
  const parts = Object.entries(fields).flatMap(([number, value]) => {
    const values = Array.isArray(value) ? (value as readonly (string | Uint8Array)[]) : [value];
    return (values as readonly (number | string | Uint8Array)[]).map((one) => {
      if (typeof one === "number") return Buffer.concat([varint(Number(number) * 8), varint(one)]);
      const bytes = Buffer.from(one as Uint8Array);
      return Buffer.concat([varint(Number(number) * 8 + 2), varint(bytes.length), bytes]);
    });
  });
  return Buffer.concat(parts);
}

/** The values of each field of a message, by number. */
export function decode(message: Buffer): ReadonlyMap<number, readonly (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>();
  let at = 0;
  const readVarint = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * scale;
      scale *= 128;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    const kind = tag % 8;
    if (kind !== 0 && kind !== 2) throw new TypeError(`wire type ${kind} is not read here`);
    const length = readVarint();
    const value = kind === 0 ? length : message.subarray(at, at + length);
    if (kind === 2) at += length;
    const number = Math.floor(tag / 8);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}
