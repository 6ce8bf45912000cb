import { MalformedMessageError, openEnvelope, WireCursor } from "@windlass/client/protobuf";
import type { Scan, ScannedEvent, ScannedList } from "./scan.ts";

// Reads just enough of an object's message to keep it as bytes, as scan.ts does of its JSON.

// The numbers of the fields of an ObjectMeta.
const NAME = 1;
const NAMESPACE = 3;
const UID = 5;
const RESOURCE_VERSION = 6;
const LABELS = 11;
const OWNERS = 13;
const MANAGED_FIELDS = 17;

/** Of an owner reference. */
const OWNER_UID = 4;

/** The first field of every object, and of every list. */
const METADATA = 1;
const METADATA_TAG = 0x0a;

const noOwners: readonly string[] = [];

/** What is found of an object's message. */
export interface MessageScan
  extends Pick<Scan, "start" | "end" | "name" | "namespace" | "uid" | "resourceVersion"> {
  readonly owners: readonly string[];
  /** Where the `managedFields` are; equal where there are none. */
  readonly cutStart: number;
  readonly cutEnd: number;
  /** Where the metadata's length is written, which is another without the `managedFields`. */
  readonly lengthStart: number;
  readonly lengthEnd: number;
  readonly metadataEnd: number;
}

/**
 * Scans the message of an object, whose first field is its metadata. What is found is valid until
 * the next scan.
 *
 * @throws MalformedMessageError
 */
export function scanMessage(bytes: Buffer, start: number, end: number): MessageScan {
  return scanner.scan(bytes, start, end);
}

/** One for all objects: there is one at a time, and a large list has many. */
class Scanner extends WireCursor implements MessageScan {
  start = 0;
  end = 0;
  name = "";
  namespace = "";
  uid = "";
  resourceVersion = "";
  owners: readonly string[] = noOwners;
  cutStart = 0;
  cutEnd = 0;
  lengthStart = 0;
  lengthEnd = 0;
  metadataEnd = 0;

  scan(bytes: Buffer, start: number, end: number): this {
    this.bytes = bytes;
    this.at = start;
    this.start = start;
    this.end = end;
    this.name = "";
    this.uid = "";
    this.resourceVersion = "";
    this.owners = noOwners;
    this.cutStart = 0;
    this.cutEnd = 0;
    let hasNamespace = false;
    if (bytes[start] !== METADATA_TAG || this.next(end) !== METADATA)
      throw new MalformedMessageError("it does not begin with metadata");
    const metadataEnd = this.fieldEnd;
    // After the tag, which is one byte.
    this.lengthStart = start + 1;
    this.lengthEnd = this.at;
    this.metadataEnd = metadataEnd;
    for (
      let fieldStart = this.at, number = this.next(metadataEnd);
      number !== 0;
      fieldStart = this.at, number = this.next(metadataEnd)
    ) {
      const to = this.fieldEnd;
      switch (number) {
        case NAME:
          this.name = bytes.toString("utf8", this.at, to);
          break;
        case NAMESPACE:
          hasNamespace = to > this.at;
          if (!this.#isSameNamespace(to)) this.namespace = bytes.toString("utf8", this.at, to);
          break;
        case UID:
          this.uid = bytes.toString("utf8", this.at, to);
          break;
        case RESOURCE_VERSION:
          this.resourceVersion = bytes.toString("latin1", this.at, to);
          break;
        case OWNERS:
          this.owners = [...this.owners, this.text(OWNER_UID, to)];
          break;
        case MANAGED_FIELDS:
          if (this.cutEnd === 0) this.cutStart = fieldStart;
          else if (this.cutEnd !== fieldStart) throw new MalformedMessageError("managedFields in two places");
          this.cutEnd = to;
          break;
      }
      this.at = to;
    }
    if (this.name === "") throw new MalformedMessageError("an object without a name");
    if (!hasNamespace) this.namespace = "";
    return this;
  }

  /**
   * Whether what was sent is the namespace of the object before. Most are: they then share its
   * text.
   */
  #isSameNamespace(end: number): boolean {
    const { bytes, at, namespace } = this;
    if (end - at !== namespace.length) return false;
    for (let index = 0; index < namespace.length; index++)
      if (bytes[at + index] !== namespace.charCodeAt(index)) return false;
    return true;
  }
}

const scanner = new Scanner(Buffer.alloc(0));

/** The labels of an object, of whose message nothing else is read. */
export function readLabels(bytes: Buffer): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  const cursor = new WireCursor(bytes);
  if (cursor.next(bytes.length) !== METADATA)
    throw new MalformedMessageError("it does not begin with metadata");
  const end = cursor.fieldEnd;
  for (let number = cursor.next(end); number !== 0; number = cursor.next(end)) {
    const from = cursor.at;
    const to = cursor.fieldEnd;
    if (number === LABELS) {
      const key = cursor.text(1, to);
      cursor.at = from;
      const value = cursor.text(2, to);
      Object.defineProperty(labels, key, { value, enumerable: true, configurable: true, writable: true });
    }
    cursor.at = to;
  }
  return labels;
}

/** How many bytes a number takes. */
function varintWidth(value: number): number {
  let width = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) width += 1;
  return width;
}

function writeVarint(bytes: Buffer, start: number, value: number): void {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at] = rest;
}

/** How long a message is without its `managedFields`. */
export function lengthWithoutCut(scan: MessageScan): number {
  const cut = scan.cutEnd - scan.cutStart;
  const shorter = scan.metadataEnd - scan.lengthEnd - cut;
  return scan.end - scan.start - cut - (scan.lengthEnd - scan.lengthStart) + varintWidth(shorter);
}

/** Copies a message without its `managedFields`. */
export function copyWithoutCut(scan: MessageScan, from: Buffer, into: Buffer, start: number): void {
  let at = start + from.copy(into, start, scan.start, scan.lengthStart);
  const shorter = scan.metadataEnd - scan.lengthEnd - (scan.cutEnd - scan.cutStart);
  writeVarint(into, at, shorter);
  at += varintWidth(shorter);
  at += from.copy(into, at, scan.lengthEnd, scan.cutStart);
  from.copy(into, at, scan.cutEnd, scan.end);
}

/**
 * Finds type and object in an event of a watch.
 *
 * @throws MalformedMessageError
 */
export function scanEventMessage(frame: Buffer): ScannedEvent {
  const cursor = new WireCursor(frame);
  let type = "";
  let objectStart = 0;
  let objectEnd = 0;
  for (let number = cursor.next(frame.length); number !== 0; number = cursor.next(frame.length)) {
    const to = cursor.fieldEnd;
    if (number === 1) type = frame.toString("latin1", cursor.at, to);
    else if (number === 2) {
      // The object is raw bytes within a message of its own.
      if (cursor.next(to) !== 1) throw new MalformedMessageError("an event without an object");
      objectStart = cursor.at;
      objectEnd = cursor.fieldEnd;
    }
    cursor.at = to;
  }
  const envelope = openEnvelope(frame, objectStart, objectEnd);
  return { type, start: envelope.start, end: envelope.end };
}

/**
 * Finds the items of a list.
 *
 * @throws MalformedMessageError
 */
export function scanListMessage(bytes: Buffer): ScannedList {
  const { start, end } = openEnvelope(bytes, 0, bytes.length);
  const cursor = new WireCursor(bytes);
  const items: number[] = [];
  const found = { resourceVersion: "", continue: "", items };
  cursor.at = start;
  for (let number = cursor.next(end); number !== 0; number = cursor.next(end)) {
    const from = cursor.at;
    const to = cursor.fieldEnd;
    if (number === 2) items.push(from, to);
    else if (number === METADATA) {
      found.resourceVersion = cursor.text(2, to);
      cursor.at = from;
      found.continue = cursor.text(3, to);
    }
    cursor.at = to;
  }
  return found;
}
