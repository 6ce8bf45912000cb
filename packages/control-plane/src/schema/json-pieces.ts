import { type Json, type JsonObject, type NoteNumber, parseExact } from "../json.ts";
import { nextTurn, type Steps } from "../steps.ts";

/** An object or a list with more characters than this is not read in one go. */
export const pieceLength = 64_000;

/**
 * Reads a long JSON text as `JSON.parse` does, some members or items of it at a time, with turns of
 * the event loop in between.
 *
 * @param longParts where its objects and lists that are longer than `pieceLength` begin and end,
 *   by their brackets
 * @param note called for numbers, which are read exactly then
 * @throws SyntaxError
 */
export function* readInPieces(
  text: string,
  longParts: ReadonlyMap<number, number>,
  note: NoteNumber | undefined,
): Steps<Json> {
  const start = afterSpace(text, 0);
  const end = longParts.get(start);
  // A long scalar, or brackets that do not match.
  if (end === undefined) return read(text, note);
  const value = yield* new PieceReader(text, longParts, note).container(start, end);
  if (afterSpace(text, end + 1) < text.length) throw new SyntaxError("text after the value");
  return value;
}

function read(text: string, note: NoteNumber | undefined): Json {
  return note ? parseExact(text, note) : (JSON.parse(text) as Json);
}

class PieceReader {
  readonly #text: string;
  readonly #longParts: ReadonlyMap<number, number>;
  readonly #note: NoteNumber | undefined;

  constructor(text: string, longParts: ReadonlyMap<number, number>, note: NoteNumber | undefined) {
    this.#text = text;
    this.#longParts = longParts;
    this.#note = note;
  }

  /** Reads the object or the list between two brackets. */
  *container(start: number, end: number): Steps<Json> {
    const text = this.#text;
    const isList = text[start] === "[";
    if (text[end] !== (isList ? "]" : "}")) throw new SyntaxError("brackets do not match");
    const into = isList ? new LongList(this.#note) : new LongObject(this.#note);
    /** Where what has not been read begins, and in it the member that is being read. */
    let from = start + 1;
    let member = from;
    let depth = 0;
    for (let at = from; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) at = endOfString(text, at);
      else if (code === 0x7b || code === 0x5b) {
        const close = depth === 0 ? this.#longParts.get(at) : undefined;
        if (close === undefined) {
          depth++;
          continue;
        }
        if (member > from) into.add(text.slice(from, member - 1));
        const name = text.slice(member, at);
        into.addLong(name, yield* this.container(at, close));
        at = afterSpace(text, close + 1);
        if (at === end) return into.value();
        if (text.charCodeAt(at) !== 0x2c) throw new SyntaxError("no comma between two members");
        from = at + 1;
        member = from;
      } else if (code === 0x7d || code === 0x5d) depth--;
      else if (code === 0x2c && depth === 0) {
        member = at + 1;
        if (at - from < pieceLength) continue;
        into.add(text.slice(from, at));
        from = member;
        yield nextTurn;
      }
    }
    // Only where nothing is in it may there be nothing.
    if (from > start + 1 || afterSpace(text, from) < end) into.add(text.slice(from, end));
    return into.value();
  }
}

class LongList {
  readonly #items: Json[] = [];
  readonly #note: NoteNumber | undefined;

  constructor(note: NoteNumber | undefined) {
    this.#note = note;
  }

  /** Adds items, by their text. */
  add(text: string): void {
    const first = this.#items.length;
    const held: [index: string, source: string][] = [];
    const read = readPiece(`[${text}]`, this.#note, held) as Json[];
    if (read.length === 0) throw new SyntaxError("no item between two commas");
    for (const item of read) this.#items.push(item);
    for (const [index, source] of held) this.#note?.(this.#items, String(first + Number(index)), source);
  }

  /** Adds an item that has been read, by the text before it. */
  addLong(before: string, item: Json): void {
    if (afterSpace(before, 0) < before.length) throw new SyntaxError("no comma between two items");
    this.#items.push(item);
  }

  value(): Json {
    return this.#items;
  }
}

class LongObject {
  readonly #fields: JsonObject = {};
  /** How numbers among the fields were written, by their names. */
  readonly #sources = new Map<string, string>();
  readonly #note: NoteNumber | undefined;

  constructor(note: NoteNumber | undefined) {
    this.#note = note;
  }

  /** Adds fields, by their text. */
  add(text: string): void {
    const held: [name: string, source: string][] = [];
    const read = readPiece(`{${text}}`, this.#note, held) as JsonObject;
    const names = Object.keys(read);
    if (names.length === 0) throw new SyntaxError("no field between two commas");
    for (const name of names) this.#set(name, read[name] as Json);
    for (const [name, source] of held) this.#sources.set(name, source);
  }

  /** Adds a field whose value has been read, by the text before it. */
  addLong(before: string, value: Json): void {
    const [name, ...more] = Object.keys(JSON.parse(`{${before}null}`) as object);
    if (name === undefined || more.length > 0) throw new SyntaxError("no name before a value");
    this.#set(name, value);
  }

  value(): Json {
    for (const [name, source] of this.#sources) this.#note?.(this.#fields, name, source);
    return this.#fields;
  }

  /** Of a field that is given more than once the last one holds. */
  #set(name: string, value: Json): void {
    if (this.#sources.size > 0) this.#sources.delete(name);
    if (name === "__proto__") {
      const own = { value, enumerable: true, writable: true, configurable: true };
      Object.defineProperty(this.#fields, name, own);
    } else this.#fields[name] = value;
  }
}

/** @param held is given the numbers that the piece itself holds, which are to be held elsewhere */
function readPiece(text: string, note: NoteNumber | undefined, held: [string, string][]): Json {
  if (!note) return JSON.parse(text) as Json;
  const noted: { holder: object; key: string; source: string }[] = [];
  const value = parseExact(text, (holder, key, source) => noted.push({ holder, key, source }));
  for (const { holder, key, source } of noted) {
    if (holder === value) held.push([key, source]);
    else note(holder, key, source);
  }
  return value;
}

/** The first place from `at` on where there is no white space. */
function afterSpace(text: string, at: number): number {
  for (let next = at; ; next++) {
    const code = text.charCodeAt(next);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return next;
  }
}

/**
 * Where the string that starts at `start` ends: at its closing quote, or at the end of the text.
 */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at;
  }
  return text.length;
}
