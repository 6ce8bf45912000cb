import type { Resource } from "../registry/resource.ts";
import type { Entry } from "../storage/store.ts";
import { entryText, type ProtobufForm } from "./representation.ts";

/** A change that a watcher sees. */
export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly entry: Entry;
}

/**
 * The revision up to which a watcher has seen everything; `initialEnd` marks the end of the initial
 * events.
 */
export interface Bookmark {
  readonly type: "BOOKMARK";
  readonly revision: number;
  readonly initialEnd: boolean;
}

export type WatchEvent = ObjectEvent | Bookmark;

export type Bytes = Uint8Array<ArrayBufferLike>;

/**
 * The encoded bytes of the latest event. All watchers get it right after each other, so it is
 * encoded once.
 */
export class SharedEvents {
  #entry: Entry | undefined;
  readonly #bytes = new Map<string, Bytes>();

  bytes(
    resource: Resource,
    type: ObjectEvent["type"],
    entry: Entry,
    protobuf: ProtobufForm | undefined,
  ): Bytes {
    if (this.#entry !== entry) {
      this.#entry = entry;
      this.#bytes.clear();
    }
    const { group, version } = resource.info;
    const key = `${type} ${version} ${group} ${protobuf ? "protobuf" : "json"}`;
    let bytes = this.#bytes.get(key);
    if (!bytes) {
      bytes = protobuf
        ? protobuf.frame(type, protobuf.object(resource, entry.object))
        : eventBytes(type, entryText(resource, entry));
      this.#bytes.set(key, bytes);
    }
    return bytes;
  }
}

/** An event of a watch in JSON. */
export function eventBytes(type: WatchEvent["type"] | "ERROR", object: string): Bytes {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}
