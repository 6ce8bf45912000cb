/**
 * Reads just enough of an object's JSON to keep it as bytes: who it is, where its labels and owners
 * are, and where `managedFields` begins and ends so that it can be left out. Never parses what it
 * need not.
 *
 * Trusts the bytes to be JSON: it finds its way by brackets and quotes. What it cannot make out it
 * returns as undefined, and the caller parses in full.
 */
export interface Scan {
  /** The object, braces included. */
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The labels' object; equal where there are none. */
  readonly labelsStart: number;
  readonly labelsEnd: number;
  /** The owner references' array; equal where there are none. */
  readonly ownersStart: number;
  readonly ownersEnd: number;
  /** The `managedFields` member with the comma that goes with it; equal where there is none. */
  readonly cutStart: number;
  readonly cutEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Beyond this many bytes a native search for the closing quote is faster than a loop. */
const SHORT_STRING = 48;

/**
 * Whether an object is written as JSON. No message begins with this byte: it would be a group,
 * which Kubernetes does not use.
 */
export function isJson(bytes: Buffer, start: number): boolean {
  return bytes[start] === OPEN_BRACE;
}

/** Thrown and caught within this file: the bytes are not what was expected. */
const lost = new Error("not the JSON that was expected");

/**
 * Scans the object that starts at `start`. With `end` given, the object is known to end there, and
 * nothing after its metadata is read; without, its end is found.
 */
export function scanObject(bytes: Buffer, start: number, end?: number): Scan | undefined {
  try {
    return scan(bytes, start, end);
  } catch (error) {
    if (error === lost) return undefined;
    throw error;
  }
}

/** The kind of a watch event and where its object is. Undefined for a line of another shape. */
export interface ScannedEvent {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const TYPE_PREFIX = Buffer.from('{"type":"');
const OBJECT_PREFIX = Buffer.from('","object":');
/** By the first letter, which differs. */
const TYPES = new Map(
  ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].map((name) => [
    name.charCodeAt(0),
    { name, bytes: Buffer.from(name) },
  ]),
);

/** Finds type and object in a line as API servers write it: `{"type":"ADDED","object":{…}}`. */
export function scanEvent(line: Buffer): ScannedEvent | undefined {
  if (!startsWith(line, TYPE_PREFIX, 0)) return undefined;
  const typeStart = TYPE_PREFIX.length;
  const type = TYPES.get(line[typeStart] ?? 0);
  if (!type || !startsWith(line, type.bytes, typeStart)) return undefined;
  const typeEnd = typeStart + type.bytes.length;
  if (!startsWith(line, OBJECT_PREFIX, typeEnd)) return undefined;
  const start = typeEnd + OBJECT_PREFIX.length;
  const end = line.length - 1;
  if (line[start] !== OPEN_BRACE || line[end] !== CLOSE_BRACE || line[end - 1] !== CLOSE_BRACE)
    return undefined;
  return { type: type.name, start, end };
}

/** A list's own fields, and where each of its items starts and ends. */
export interface ScannedList {
  readonly resourceVersion: string;
  readonly continue: string;
  /** Start and end of each item, one after the other. */
  readonly items: readonly number[];
}

/** Finds the items of a list without parsing them. */
export function scanList(bytes: Buffer): ScannedList | undefined {
  try {
    let metadata: { resourceVersion?: unknown; continue?: unknown } = {};
    const items: number[] = [];
    const start = skipSpace(bytes, 0);
    if (bytes[start] !== OPEN_BRACE) return undefined;
    let at = skipSpace(bytes, start + 1);
    while (bytes[at] !== CLOSE_BRACE) {
      const keyEnd = skipKey(bytes, at);
      const value = skipColon(bytes, keyEnd);
      const isItems = keyIs(bytes, at + 1, keyEnd - 1, "items") && bytes[value] === OPEN_BRACKET;
      const valueEnd = isItems ? eachElement(bytes, value, items) : skipValue(bytes, value);
      if (keyIs(bytes, at + 1, keyEnd - 1, "metadata")) {
        const parsed: unknown = JSON.parse(bytes.toString("utf8", value, valueEnd));
        if (typeof parsed === "object" && parsed !== null) metadata = parsed;
      }
      at = skipComma(bytes, valueEnd);
    }
    return {
      resourceVersion: typeof metadata.resourceVersion === "string" ? metadata.resourceVersion : "",
      continue: typeof metadata.continue === "string" ? metadata.continue : "",
      items,
    };
  } catch (error) {
    if (error === lost || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function scan(bytes: Buffer, start: number, knownEnd: number | undefined): Scan {
  if (bytes[start] !== OPEN_BRACE) throw lost;
  let found: MetadataScan | undefined;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    const keyEnd = skipKey(bytes, at);
    const value = skipColon(bytes, keyEnd);
    if (keyIs(bytes, at + 1, keyEnd - 1, "metadata")) {
      if (found) throw lost;
      found = new MetadataScan(bytes, start, value);
      // The rest of an object whose end is known need not be scanned.
      if (knownEnd !== undefined) return found.endingAt(knownEnd);
      at = found.metadataEnd;
    } else at = skipValue(bytes, value);
    at = skipComma(bytes, at);
  }
  if (!found) throw lost;
  return found.endingAt(at + 1);
}

/**
 * Finds its way through an object's metadata. A class with plain loops, since every object of a
 * large list passes through here.
 */
class MetadataScan implements Scan {
  readonly start: number;
  end = 0;
  name = "";
  namespace = "";
  uid = "";
  resourceVersion = "";
  labelsStart = 0;
  labelsEnd = 0;
  ownersStart = 0;
  ownersEnd = 0;
  cutStart = 0;
  cutEnd = 0;
  readonly metadataEnd: number;

  constructor(bytes: Buffer, start: number, metadata: number) {
    this.start = start;
    if (bytes[metadata] !== OPEN_BRACE) throw lost;
    let at = skipSpace(bytes, metadata + 1);
    while (bytes[at] !== CLOSE_BRACE) {
      const keyEnd = skipKey(bytes, at);
      const value = skipColon(bytes, keyEnd);
      const valueEnd = skipValue(bytes, value);
      this.#member(bytes, at + 1, keyEnd - 1, value, valueEnd);
      at = skipComma(bytes, valueEnd);
    }
    this.metadataEnd = at + 1;
    if (this.name === "") throw lost;
    if (this.cutEnd > 0) this.#widenCut(bytes);
  }

  endingAt(end: number): Scan {
    if (this.metadataEnd > end) throw lost;
    this.end = end;
    return this;
  }

  #member(bytes: Buffer, keyStart: number, keyEnd: number, value: number, valueEnd: number): void {
    switch (keyEnd - keyStart) {
      case 3:
        if (keyIs(bytes, keyStart, keyEnd, "uid")) this.uid = text(bytes, value, valueEnd);
        break;
      case 4:
        if (keyIs(bytes, keyStart, keyEnd, "name")) this.name = text(bytes, value, valueEnd);
        break;
      case 6:
        if (keyIs(bytes, keyStart, keyEnd, "labels") && bytes[value] === OPEN_BRACE) {
          this.labelsStart = value;
          this.labelsEnd = valueEnd;
        }
        break;
      case 9:
        if (keyIs(bytes, keyStart, keyEnd, "namespace")) this.namespace = text(bytes, value, valueEnd);
        break;
      case 13:
        if (keyIs(bytes, keyStart, keyEnd, "managedFields")) {
          if (this.cutEnd > 0) throw lost;
          this.cutStart = keyStart - 1;
          this.cutEnd = valueEnd;
        }
        break;
      case 15:
        if (keyIs(bytes, keyStart, keyEnd, "resourceVersion"))
          this.resourceVersion = text(bytes, value, valueEnd);
        else if (keyIs(bytes, keyStart, keyEnd, "ownerReferences") && bytes[value] === OPEN_BRACKET) {
          this.ownersStart = value;
          this.ownersEnd = valueEnd;
        }
        break;
    }
  }

  /** The comma before the member goes with it, or, where it comes first, the one after it. */
  #widenCut(bytes: Buffer): void {
    let before = this.cutStart - 1;
    while (isSpace(bytes[before])) before -= 1;
    if (bytes[before] === COMMA) this.cutStart = before;
    else {
      const after = skipSpace(bytes, this.cutEnd);
      if (bytes[after] === COMMA) this.cutEnd = after + 1;
    }
  }
}

function skipKey(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) throw lost;
  return skipString(bytes, at);
}

function skipColon(bytes: Buffer, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd);
  if (bytes[colon] !== COLON) throw lost;
  return skipSpace(bytes, colon + 1);
}

/** @returns the start of the next member, or the closing brace. */
function skipComma(bytes: Buffer, valueEnd: number): number {
  const at = skipSpace(bytes, valueEnd);
  if (bytes[at] === CLOSE_BRACE) return at;
  if (bytes[at] !== COMMA) throw lost;
  const next = skipSpace(bytes, at + 1);
  if (bytes[next] !== QUOTE) throw lost;
  return next;
}

/**
 * Where each element of an array starts and ends, one after the other.
 *
 * @returns none where the bytes are not the array that was expected.
 */
export function scanArray(bytes: Buffer, start: number): readonly number[] {
  if (bytes[start] !== OPEN_BRACKET) return [];
  const spans: number[] = [];
  try {
    eachElement(bytes, start, spans);
    return spans;
  } catch (error) {
    if (error === lost) return [];
    throw error;
  }
}

function eachElement(bytes: Buffer, start: number, spans: number[]): number {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    const end = skipValue(bytes, at);
    spans.push(at, end);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at] !== COMMA) throw lost;
    at = skipSpace(bytes, at + 1);
  }
}

function skipValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipContainer(bytes, start);
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (
      byte === undefined ||
      byte === COMMA ||
      byte === CLOSE_BRACE ||
      byte === CLOSE_BRACKET ||
      isSpace(byte)
    ) {
      if (at === start) throw lost;
      return at;
    }
    at += 1;
  }
}

function skipContainer(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw lost;
}

/** @returns the position after the closing quote. */
function skipString(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  const near = Math.min(length, at + SHORT_STRING);
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) throw lost;
    let backslashes = 0;
    for (let before = quote - 1; before >= at && bytes[before] === BACKSLASH; before--) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Whether a key is the given word. A key written with escapes might be any word, so nothing can be
 * said of it.
 */
function keyIs(bytes: Buffer, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) {
    for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) throw lost;
    return false;
  }
  for (let index = 0; index < word.length; index++) {
    const byte = bytes[start + index];
    if (byte === BACKSLASH) throw lost;
    if (byte !== word.charCodeAt(index)) return false;
  }
  return true;
}

function text(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== QUOTE) throw lost;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at];
    if (byte === undefined || byte === BACKSLASH || byte > 0x7e || byte < 0x20) throw lost;
  }
  return bytes.toString("latin1", start + 1, end - 1);
}

function startsWith(bytes: Buffer, prefix: Buffer, at: number): boolean {
  for (let index = 0; index < prefix.length; index++) {
    if (bytes[at + index] !== prefix[index]) return false;
  }
  return true;
}
