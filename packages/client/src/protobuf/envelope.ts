import { DELIMITED, MalformedMessageError, WireCursor } from "./wire.ts";

/** What every message of an API server is wrapped in. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** Where the message itself is. */
  readonly start: number;
  readonly end: number;
}

/** `k8s` and a zero byte. */
const MAGIC = 0x6b387300;

/**
 * Opens what a server sent.
 *
 * @throws MalformedMessageError
 */
export function openEnvelope(bytes: Buffer, start: number, end: number): Envelope {
  if (end - start < 4 || bytes.readUInt32BE(start) !== MAGIC)
    throw new MalformedMessageError("it does not begin as a Kubernetes message does");
  const cursor = new WireCursor(bytes);
  const envelope = { apiVersion: "", kind: "", start: end, end };
  cursor.at = start + 4;
  while (cursor.at < end) {
    const tag = cursor.varint(end);
    if ((tag & 7) !== DELIMITED) {
      cursor.skip(tag & 7, end);
      continue;
    }
    const to = cursor.delimited(end);
    if (tag >>> 3 === 1) {
      while (cursor.at < to) {
        const part = cursor.varint(to);
        const partEnd = cursor.delimited(to);
        const text = bytes.toString("utf8", cursor.at, partEnd);
        if (part >>> 3 === 1) envelope.apiVersion = text;
        else if (part >>> 3 === 2) envelope.kind = text;
        cursor.at = partEnd;
      }
    } else if (tag >>> 3 === 2) {
      envelope.start = cursor.at;
      envelope.end = to;
    }
    cursor.at = to;
  }
  return envelope;
}
