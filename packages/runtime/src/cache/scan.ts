/**
 * Reads just enough of an object's JSON to keep it as bytes: who it is, where its labels and owners are, and where
 * `managedFields` begins and ends so that it can be left out. Never parses what it need not.
 *
 * Trusts the bytes to be JSON: it finds its way by brackets and quotes. What it cannot make out it gives back as
 * undefined, and the caller parses in full.
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

/** Thrown and caught within this file: the bytes are not what was expected. */
const lost = new Error("not the JSON that was expected");

/**
 * Scans the object that starts at `start`. With `end` given, the object is known to end there, and nothing after its
 * metadata is looked at; without, its end is found.
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

/** Finds type and object in a line as API servers write it: `{"type":"ADDED","object":{…}}`. */
export function scanEvent(line: Buffer): ScannedEvent | undefined {
  if (!startsWith(line, TYPE_PREFIX, 0)) return undefined;
  const typeStart = TYPE_PREFIX.length;
  const typeEnd = line.indexOf(QUOTE, typeStart);
  if (typeEnd < 0 || typeEnd - typeStart > 16 || !startsWith(line, OBJECT_PREFIX, typeEnd)) return undefined;
  const start = typeEnd + OBJECT_PREFIX.length;
  const end = line.length - 1;
  if (line[start] !== OPEN_BRACE || line[end] !== CLOSE_BRACE || line[end - 1] !== CLOSE_BRACE)
    return undefined;
  return { type: line.toString("latin1", typeStart, typeEnd), start, end };
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
    eachMember(bytes, skipSpace(bytes, 0), (keyStart, keyEnd, valueStart) => {
      if (keyIs(bytes, keyStart, keyEnd, "items") && bytes[valueStart] === OPEN_BRACKET)
        return eachElement(bytes, valueStart, items);
      const valueEnd = skipValue(bytes, valueStart);
      if (keyIs(bytes, keyStart, keyEnd, "metadata")) {
        const parsed: unknown = JSON.parse(bytes.toString("utf8", valueStart, valueEnd));
        if (typeof parsed === "object" && parsed !== null) metadata = parsed;
      }
      return valueEnd;
    });
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
  let metadataStart = -1;
  let metadataEnd = -1;
  const end = eachMember(bytes, start, (keyStart, keyEnd, valueStart) => {
    const isMetadata = keyIs(bytes, keyStart, keyEnd, "metadata");
    if (isMetadata && metadataStart >= 0) throw lost;
    if (isMetadata) metadataStart = valueStart;
    if (isMetadata && knownEnd !== undefined) return -1;
    const valueEnd = skipValue(bytes, valueStart);
    if (isMetadata) metadataEnd = valueEnd;
    return valueEnd;
  });
  if (metadataStart < 0 || bytes[metadataStart] !== OPEN_BRACE) throw lost;
  return scanMetadata(bytes, start, metadataStart, knownEnd ?? end, metadataEnd);
}

function scanMetadata(bytes: Buffer, start: number, at: number, end: number, metadataEnd: number): Scan {
  let name = "";
  let namespace = "";
  let uid = "";
  let resourceVersion = "";
  let labelsStart = 0;
  let labelsEnd = 0;
  let ownersStart = 0;
  let ownersEnd = 0;
  let cutStart = 0;
  let cutEnd = 0;
  let managed = -1;
  const last = eachMember(bytes, at, (keyStart, keyEnd, valueStart) => {
    const valueEnd = skipValue(bytes, valueStart);
    switch (keyEnd - keyStart) {
      case 3:
        if (keyIs(bytes, keyStart, keyEnd, "uid")) uid = text(bytes, valueStart, valueEnd);
        break;
      case 4:
        if (keyIs(bytes, keyStart, keyEnd, "name")) name = text(bytes, valueStart, valueEnd);
        break;
      case 6:
        if (keyIs(bytes, keyStart, keyEnd, "labels") && bytes[valueStart] === OPEN_BRACE) {
          labelsStart = valueStart;
          labelsEnd = valueEnd;
        }
        break;
      case 9:
        if (keyIs(bytes, keyStart, keyEnd, "namespace")) namespace = text(bytes, valueStart, valueEnd);
        break;
      case 13:
        if (keyIs(bytes, keyStart, keyEnd, "managedFields")) {
          if (managed >= 0) throw lost;
          managed = keyStart - 1;
          cutStart = managed;
          cutEnd = valueEnd;
        }
        break;
      case 15:
        if (keyIs(bytes, keyStart, keyEnd, "resourceVersion"))
          resourceVersion = text(bytes, valueStart, valueEnd);
        else if (keyIs(bytes, keyStart, keyEnd, "ownerReferences") && bytes[valueStart] === OPEN_BRACKET) {
          ownersStart = valueStart;
          ownersEnd = valueEnd;
        }
        break;
    }
    return valueEnd;
  });
  if (metadataEnd >= 0 && last !== metadataEnd) throw lost;
  if (last > end || name === "") throw lost;
  if (managed >= 0) {
    // Either the comma before it goes too, or, where it comes first, the one after it.
    let before = managed - 1;
    while (isSpace(bytes[before])) before -= 1;
    if (bytes[before] === COMMA) cutStart = before;
    else {
      const after = skipSpace(bytes, cutEnd);
      if (bytes[after] === COMMA) cutEnd = after + 1;
    }
  }
  return {
    start,
    end,
    name,
    namespace,
    uid,
    resourceVersion,
    labelsStart,
    labelsEnd,
    ownersStart,
    ownersEnd,
    cutStart,
    cutEnd,
  };
}

/**
 * Walks the members of an object. `visit` is given the key (without its quotes) and the value's start, and returns the
 * value's end, or -1 to stop.
 *
 * @returns where the object ends, or -1 if stopped.
 */
function eachMember(
  bytes: Buffer,
  start: number,
  visit: (keyStart: number, keyEnd: number, valueStart: number) => number,
): number {
  if (bytes[start] !== OPEN_BRACE) throw lost;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) throw lost;
    const keyEnd = skipString(bytes, at);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) throw lost;
    const valueEnd = visit(at + 1, keyEnd - 1, skipSpace(bytes, colon + 1));
    if (valueEnd < 0) return -1;
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) throw lost;
    at = skipSpace(bytes, at + 1);
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

/** Whether a key is the given word. A key written with escapes might be any word, so nothing can be said of it. */
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
