/** A frame of SPDY/3.1 that matters here. Others are read and left alone. */
export type SpdyFrame =
  | { readonly kind: "data"; readonly stream: number; readonly fin: boolean; readonly data: Buffer }
  /** A stream begins. Its headers are compressed, together with all before them. */
  | { readonly kind: "begin"; readonly stream: number; readonly fin: boolean; readonly headers: Buffer }
  | { readonly kind: "reset"; readonly stream: number }
  | { readonly kind: "ping"; readonly id: number }
  | { readonly kind: "goaway" }
  | { readonly kind: "other" };

/** A client broke the rules of SPDY. The connection ends. */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}

const controlBit = 0x8000;
const version = 3;
const types = { begin: 1, reply: 2, reset: 3, ping: 6, goaway: 7 } as const;
const finFlag = 1;
/** No frame is longer: what is streamed comes in many. */
const mostBytes = 4 * 1024 * 1024;
const mostHeaders = 64;

/** Takes what a client sent apart, however it was cut into pieces on its way. */
export class SpdyReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws SpdyError, after which nothing more may be read */
  *read(chunk: Uint8Array): Generator<SpdyFrame> {
    this.#rest = this.#rest.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.byteLength >= 8) {
      const length = this.#rest.readUIntBE(5, 3);
      if (length > mostBytes) throw new SpdyError(`no frame may be longer than ${mostBytes} bytes`);
      if (this.#rest.byteLength < 8 + length) return;
      const head = this.#rest.subarray(0, 8);
      const body = Buffer.from(this.#rest.subarray(8, 8 + length));
      this.#rest = this.#rest.subarray(8 + length);
      yield frameOf(head, body);
    }
  }
}

function frameOf(head: Buffer, body: Buffer): SpdyFrame {
  const first = head.readUInt16BE(0);
  const fin = ((head[4] ?? 0) & finFlag) !== 0;
  if ((first & controlBit) === 0) return { kind: "data", stream: head.readUInt32BE(0), fin, data: body };
  if ((first & ~controlBit) !== version)
    throw new SpdyError(`version ${first & ~controlBit} is not spoken here`);
  const need = (bytes: number) => {
    if (body.byteLength < bytes) throw new SpdyError("a frame is too short");
  };
  switch (head.readUInt16BE(2)) {
    case types.begin:
      need(10);
      return { kind: "begin", stream: streamId(body), fin, headers: body.subarray(10) };
    case types.reset:
      need(8);
      return { kind: "reset", stream: streamId(body) };
    case types.ping:
      need(4);
      return { kind: "ping", id: body.readUInt32BE(0) };
    case types.goaway:
      return { kind: "goaway" };
    default:
      return { kind: "other" };
  }
}

function streamId(body: Buffer): number {
  return body.readUInt32BE(0) & 0x7fff_ffff;
}

/** A stream's headers, once they are uncompressed. Names are in lower case. @throws SpdyError */
export function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const number = () => {
    if (at + 4 > bytes.byteLength) throw new SpdyError("headers are cut off");
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = () => {
    const length = number();
    if (at + length > bytes.byteLength) throw new SpdyError("headers are cut off");
    at += length;
    return bytes.subarray(at - length, at).toString();
  };
  const count = number();
  if (count > mostHeaders) throw new SpdyError(`no stream may have more than ${mostHeaders} headers`);
  for (let index = 0; index < count; index++) headers.set(text().toLowerCase(), text());
  return headers;
}

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(controlBit | version, 0);
  head.writeUInt16BE(type, 2);
  head[4] = flags;
  head.writeUIntBE(body.byteLength, 5, 3);
  return Buffer.concat([head, body]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The beginning of a zlib stream that knows SPDY's dictionary. */
const zlibStart = Buffer.from([0x78, 0x20, 0xe3, 0xc6, 0xa7, 0xc2]);
/**
 * Two blocks of it, uncompressed: "no headers", and an empty one, at which Go's reader hands out
 * what it has.
 */
const noHeaders = Buffer.from([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

/**
 * Accepts a stream.
 *
 * @param order which of this connection's answers it is: the first begins the compression
 */
export function replyFrame(stream: number, order: "first" | "later"): Buffer {
  const block = order === "first" ? [zlibStart, noHeaders] : [noHeaders];
  return control(types.reply, 0, Buffer.concat([word(stream), ...block]));
}

export function dataFrame(stream: number, data: Uint8Array, fin: boolean): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(stream, 0);
  head[4] = fin ? finFlag : 0;
  head.writeUIntBE(data.byteLength, 5, 3);
  return Buffer.concat([head, data]);
}

export function pingFrame(id: number): Buffer {
  return control(types.ping, 0, word(id));
}

export function resetFrame(stream: number): Buffer {
  const cancel = 5;
  return control(types.reset, 0, Buffer.concat([word(stream), word(cancel)]));
}

/** The end of a connection. @param last the last stream that was accepted */
export function goawayFrame(last: number): Buffer {
  return control(types.goaway, 0, Buffer.concat([word(last), word(0)]));
}

/** The words that both sides of SPDY/3 know before the first header is compressed. */
export const dictionary: Buffer = Buffer.concat([
  ...`options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
authorization cache-control connection content-base content-encoding content-language content-length content-location
content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer
retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status
200\u00a0OK version HTTP/1.1 url public set-cookie keep-alive origin`
    .split(/[ \n]/)
    .map((name) => name.replace("\u00a0", " "))
    .flatMap((name) => [word(name.length), Buffer.from(name)]),
  Buffer.from(
    [
      "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505",
      "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized",
      "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable",
      "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT",
      "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,",
      "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.",
    ].join(""),
  ),
]);
