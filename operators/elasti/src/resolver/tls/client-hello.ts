/** What the first bytes of a TLS connection say of the server that is meant. */
export type ServerName =
  /** More bytes are needed. */
  | { readonly is: "incomplete" }
  | { readonly is: "named"; readonly name: string }
  /** The client names none, or this is no ClientHello. */
  | { readonly is: "unnamed" };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
const RECORD_HEADER_BYTES = 5;
/** Larger ones exist (many key shares), but not much larger. */
const MOST_HELLO_BYTES = 16 * 1024;

const unnamed: ServerName = { is: "unnamed" };
const incomplete: ServerName = { is: "incomplete" };

/**
 * Reads the server name (SNI) of a ClientHello. Never throws: whatever the bytes are, they are the
 * target's to judge.
 *
 * @param bytes all that the client has sent so far.
 */
export function serverName(bytes: Buffer): ServerName {
  const hello = handshake(bytes);
  if (!hello) return unnamed;
  // Its type, its length, the version and the random are of fixed length; then come three lists.
  const type = hello.bytes[0];
  if (type !== undefined && type !== CLIENT_HELLO) return unnamed;
  const cursor = new Cursor(hello.bytes, 4 + 2 + 32);
  cursor.skipList(1);
  cursor.skipList(2);
  cursor.skipList(1);
  const extensionsEnd = Math.min(cursor.number(2) + cursor.at, hello.bytes.length);
  while (cursor.at + 4 <= extensionsEnd) {
    const extension = cursor.number(2);
    const length = cursor.number(2);
    if (extension === SERVER_NAME)
      return nameIn(hello.bytes.subarray(cursor.at, cursor.at + length), length, hello.isWhole);
    cursor.at += length;
  }
  return !hello.isWhole && bytes.length < MOST_HELLO_BYTES ? incomplete : unnamed;
}

function nameIn(list: Buffer, length: number, isWhole: boolean): ServerName {
  if (list.length < length) return isWhole ? unnamed : incomplete;
  const cursor = new Cursor(list, 2);
  while (!cursor.isPast && cursor.at < list.length) {
    const type = cursor.number(1);
    const size = cursor.number(2);
    const name = list.toString("latin1", cursor.at, cursor.at + size);
    if (type === HOST_NAME && name.length === size && /^[\w.-]+$/.test(name))
      return { is: "named", name: name.toLowerCase() };
    cursor.at += size;
  }
  return unnamed;
}

/**
 * The handshake message at the beginning, put together from its records as far as they are there.
 */
function handshake(bytes: Buffer): { readonly bytes: Buffer; readonly isWhole: boolean } | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== HANDSHAKE) return at === 0 ? undefined : { bytes: Buffer.concat(parts), isWhole: true };
    if (at + RECORD_HEADER_BYTES > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length));
    at += RECORD_HEADER_BYTES + length;
  }
  const all = Buffer.concat(parts);
  const wanted = all.length >= 4 ? 4 + all.readUIntBE(1, 3) : Number.POSITIVE_INFINITY;
  return { bytes: all, isWhole: all.length >= wanted };
}

/** Reads numbers and lengths, and notices when it is past the end instead of throwing. */
class Cursor {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isPast(): boolean {
    return this.at > this.#bytes.length;
  }

  number(bytes: 1 | 2): number {
    const value = this.at + bytes <= this.#bytes.length ? this.#bytes.readUIntBE(this.at, bytes) : 0;
    this.at += bytes;
    return value;
  }

  skipList(lengthBytes: 1 | 2): void {
    const length = this.number(lengthBytes);
    this.at += length;
  }
}
