/** The peer sent something that is not an HTTP/1.1 response. */
export class MalformedResponseError extends Error {
  override readonly name = "MalformedResponseError";
}

/** What comes before a response's body. */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case. A name that was sent twice has its values joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long the body is, where it was said in advance. */
  readonly length: number | undefined;
  /** Whether the connection can serve another request after this one. */
  readonly keepAlive: boolean;
}

/** Gets the parts of one response, in order: the head, bytes of the body, the end. */
export interface ResponseListener {
  head(head: ResponseHead): void;
  /** Bytes of the body. Their memory is used again after the call. */
  body(bytes: Buffer, start: number, end: number): void;
  end(): void;
}

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const headEnd = Buffer.from("\r\n\r\n");

/** API servers send a few hundred bytes. */
const LONGEST_HEAD = 64 * 1024;
/** Longer lines say nothing that a client listens to. */
const LONGEST_CHUNK_LINE = 4096;
/** Sizes beyond this are not counted exactly by a number. */
const MOST_SIZE_DIGITS = 12;

type Place = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "to-the-end" | "done";

/**
 * Reads one response from the bytes of a connection, wherever they are cut.
 *
 * Knows what API servers and the proxies before them send: a length, chunks, or a body that ends
 * with the connection. Interim responses (1xx) and trailers are passed over.
 */
export class ResponseParser {
  readonly #listener: ResponseListener;
  #place: Place = "head";
  /** The beginning of a head that did not come in one piece. */
  #begun: Buffer | undefined;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;
  /**
   * The line that is being read of a chunk's size or a trailer: how long it is, and the size so
   * far.
   */
  #lineLength = 0;
  #size = 0;
  #sizeDigits = 0;
  #isPastSize = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** Whether anything of the response has come. */
  get hasBegun(): boolean {
    return this.#place !== "head" || this.#begun !== undefined;
  }

  get isDone(): boolean {
    return this.#place === "done";
  }

  /**
   * @returns where it stopped: `end`, or before that if the response is complete and the rest
   *   belongs to something else.
   * @throws MalformedResponseError
   */
  take(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.#place !== "done") {
      switch (this.#place) {
        case "head":
          at = this.#takeHead(bytes, at, end);
          break;
        case "body":
        case "chunk":
          at = this.#takeBody(bytes, at, Math.min(end, at + this.#left));
          break;
        case "chunk-size":
          this.#takeSizeByte(bytes[at++] as number);
          break;
        case "chunk-end":
        case "trailer":
          this.#takeLineByte(bytes[at++] as number);
          break;
        case "to-the-end":
          this.#listener.body(bytes, at, end);
          at = end;
          break;
      }
    }
    return at;
  }

  /** The connection ended. @returns whether that was where the response ends too. */
  close(): boolean {
    if (this.#place === "to-the-end") this.#finish();
    return this.#place === "done";
  }

  #takeHead(bytes: Buffer, start: number, end: number): number {
    let from = bytes;
    let at = start;
    let to = end;
    if (this.#begun) {
      from = Buffer.concat([this.#begun, bytes.subarray(start, end)]);
      at = 0;
      to = from.length;
    }
    const found = from.subarray(at, to).indexOf(headEnd);
    if (found < 0) {
      if (to - at > LONGEST_HEAD) throw new MalformedResponseError("response head too long");
      mustLookLikeHttp(from, at, to);
      this.#begun = Buffer.from(from.subarray(at, to));
      return end;
    }
    const head = parseHead(from.toString("latin1", at, at + found));
    const held = this.#begun?.length ?? 0;
    this.#begun = undefined;
    if (head !== "interim") this.#startBody(head);
    return start + found + headEnd.length - held;
  }

  #startBody(head: ParsedHead): void {
    this.#place = head.place;
    this.#left = head.length ?? 0;
    this.#listener.head(head);
    if (this.#place === "body" && this.#left === 0) this.#finish();
  }

  #takeBody(bytes: Buffer, start: number, end: number): number {
    this.#listener.body(bytes, start, end);
    this.#left -= end - start;
    if (this.#left === 0) {
      if (this.#place === "body") this.#finish();
      else this.#place = "chunk-end";
    }
    return end;
  }

  #takeSizeByte(byte: number): void {
    if (byte === LF) {
      if (this.#sizeDigits === 0) throw new MalformedResponseError("chunk without a size");
      this.#left = this.#size;
      this.#place = this.#size === 0 ? "trailer" : "chunk";
      this.#size = 0;
      this.#sizeDigits = 0;
      this.#lineLength = 0;
      this.#isPastSize = false;
      return;
    }
    this.#lineLength += 1;
    if (this.#lineLength > LONGEST_CHUNK_LINE) throw new MalformedResponseError("chunk size line too long");
    if (this.#isPastSize) return;
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#sizeDigits += 1;
      if (this.#sizeDigits > MOST_SIZE_DIGITS) throw new MalformedResponseError("chunk size out of range");
      this.#size = this.#size * 16 + digit;
    } else if (byte === CR || byte === SEMICOLON || byte === 0x20 || byte === 0x09) this.#isPastSize = true;
    else throw new MalformedResponseError("malformed chunk size");
  }

  /** The line end after a chunk, or a line after the last one, of which an empty one is the end. */
  #takeLineByte(byte: number): void {
    if (this.#place === "chunk-end") {
      if (byte === LF) this.#place = "chunk-size";
      else if (byte !== CR) throw new MalformedResponseError("chunk longer than its size");
      return;
    }
    if (byte === LF) {
      if (this.#lineLength === 0) this.#finish();
      this.#lineLength = 0;
    } else if (byte !== CR) this.#lineLength += 1;
    if (this.#lineLength > LONGEST_CHUNK_LINE) throw new MalformedResponseError("trailer too long");
  }

  #finish(): void {
    this.#place = "done";
    this.#listener.end();
  }
}

interface ParsedHead extends ResponseHead {
  readonly place: "body" | "chunk-size" | "to-the-end";
}

/**
 * A peer that speaks something else may never send the end of a head; its first bytes give it away.
 */
function mustLookLikeHttp(bytes: Buffer, start: number, end: number): void {
  const expected = "HTTP/1.";
  const said = bytes.toString("latin1", start, Math.min(end, start + expected.length));
  if (!expected.startsWith(said)) throw new MalformedResponseError("not an HTTP/1 response");
}

function parseHead(text: string): ParsedHead | "interim" {
  const lineEnd = text.indexOf("\r\n");
  const first = lineEnd < 0 ? text : text.slice(0, lineEnd);
  const [, minor, code] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first) ?? [];
  if (code === undefined) throw new MalformedResponseError("not an HTTP/1 response");
  const status = Number(code);
  if (status === 101) throw new MalformedResponseError("unexpected 101 Switching Protocols");
  const headers: Record<string, string> = {};
  for (let at = first.length + 2; at < text.length; ) {
    const found = text.indexOf("\r\n", at);
    const end = found < 0 ? text.length : found;
    addHeader(headers, text.slice(at, end));
    at = end + 2;
  }
  if (status < 200) return "interim";
  const keepAlive = stays(headers.connection, minor === "1");
  if (status === 204 || status === 304) return { status, headers, length: 0, keepAlive, place: "body" };
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked")
      throw new MalformedResponseError(`transfer-encoding ${JSON.stringify(coding)}, which is not supported`);
    return { status, headers, length: undefined, keepAlive, place: "chunk-size" };
  }
  const length = headers["content-length"];
  if (length === undefined)
    return { status, headers, length: undefined, keepAlive: false, place: "to-the-end" };
  if (!/^\d{1,15}$/.test(length)) throw new MalformedResponseError("malformed content-length");
  return { status, headers, length: Number(length), keepAlive, place: "body" };
}

function addHeader(headers: Record<string, string>, line: string): void {
  const colon = line.indexOf(":");
  if (colon < 1 || line[0] === " " || line[0] === "\t")
    throw new MalformedResponseError("malformed header line");
  const name = line.slice(0, colon).toLowerCase();
  const value = line.slice(colon + 1).trim();
  const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
  // The same length twice is one length; all other values that come twice are a list.
  const all =
    earlier === undefined || (name === "content-length" && earlier === value)
      ? value
      : `${earlier}, ${value}`;
  if (name === "__proto__") return;
  headers[name] = all;
}

function stays(connection: string | undefined, byDefault: boolean): boolean {
  if (connection === undefined) return byDefault;
  const tokens = connection.toLowerCase();
  if (tokens.includes("close")) return false;
  return byDefault || tokens.includes("keep-alive");
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
