import type { AnyKind, ListOptions, ProtobufReader, WatchOptions } from "@windlass/client";
import { MalformedMessageError, messageNamed, readMessage } from "@windlass/client/protobuf";
import type { ListWatcher } from "./list-watcher.ts";
import { MalformedObjectError } from "./received.ts";
import { type ScannedEvent, type ScannedList, scanEvent, scanList } from "./scan.ts";
import { scanEventMessage, scanListMessage } from "./scan-message.ts";

/** How a server's answers are asked for and found one's way in. */
export interface WireFormat {
  readonly name: "json" | "protobuf";
  list(kind: AnyKind, options: ListOptions): AsyncIterable<Uint8Array>;
  /** The events of a watch, each valid until the next one is asked for. */
  watch(kind: AnyKind, options: WatchOptions): AsyncIterable<Buffer>;
  /** @throws MalformedObjectError */
  scanList(bytes: Buffer): ScannedList;
  /** @throws MalformedObjectError */
  scanEvent(event: Buffer): LocatedEvent;
  /** What the object of a bookmark says of itself. @throws MalformedObjectError */
  readBookmark(bytes: Buffer, start: number, end: number): Bookmark;
  /** The Status of an ERROR event. @throws MalformedObjectError */
  readStatus(bytes: Buffer, start: number, end: number): unknown;
}

/** An event and where its object is: in the bytes it came in, or in some of its own. */
export interface LocatedEvent extends ScannedEvent {
  readonly bytes?: Buffer;
}

/** What a bookmark of a watch has that matters. */
export interface Bookmark {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Lists and watches as JSON. */
export function jsonFormat(source: ListWatcher): WireFormat {
  return {
    name: "json",
    list: (kind, options) => source.listBytes(kind, options),
    watch: (kind, options) => source.watchLines(kind, options),
    scanList(bytes) {
      const list = scanList(bytes);
      if (!list) throw new MalformedObjectError(`the server sent ${bytes.length} bytes that are not a list`);
      return list;
    },
    scanEvent: (line) => scanEvent(line) ?? rewriteEvent(line),
    readBookmark: (bytes, start, end) => readRecord(bytes, start, end),
    readStatus: (bytes, start, end) => readRecord(bytes, start, end),
  };
}

/** Lists and watches as protobuf. */
export function protobufFormat(source: ProtobufReader): WireFormat {
  return {
    name: "protobuf",
    list: (kind, options) => source.list(kind, options),
    watch: (kind, options) => source.watch(kind, options),
    scanList: (bytes) => explained(bytes, () => scanListMessage(bytes)),
    scanEvent: (frame) => explained(frame, () => scanEventMessage(frame)),
    // Whatever its kind, metadata is its first field.
    readBookmark: (bytes, start, end) =>
      explained(bytes, () => readMessage(messageNamed("meta.v1.PartialObjectMetadata"), bytes, start, end)),
    readStatus: (bytes, start, end) =>
      explained(bytes, () => ({
        ...readMessage(messageNamed("meta.v1.Status"), bytes, start, end),
        kind: "Status",
      })),
  };
}

function explained<T>(bytes: Buffer, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    // The bytes themselves are not quoted: they may hold a Secret.
    throw new MalformedObjectError(
      `the server sent ${bytes.length} bytes that are not the message they should be: ${error.message}`,
    );
  }
}

function readRecord(bytes: Buffer, start: number, end: number): Record<string, unknown> {
  const parsed = parseJson(bytes.toString("utf8", start, end), bytes.length);
  return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
}

/** A line that is not written as API servers write it: read it in full, and write it so. */
function rewriteEvent(line: Buffer): LocatedEvent {
  const event = parseJson(line.toString("utf8"), line.length);
  if (typeof event !== "object" || event === null || !("type" in event) || !("object" in event))
    throw new MalformedObjectError(
      `the server sent a line of ${line.length} bytes that is not a watch event`,
    );
  const bytes = Buffer.from(JSON.stringify(event.object));
  return { type: String(event.type), start: 0, end: bytes.length, bytes };
}

function parseJson(text: string, bytes: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedObjectError(`the server sent a line of ${bytes} bytes that is not JSON`);
  }
}
