import { MalformedMessageError, WireCursor } from "./wire.ts";

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
  for (let number = cursor.next(end); number !== 0; number = cursor.next(end)) {
    const from = cursor.at;
    const to = cursor.fieldEnd;
    if (number === 1) {
      envelope.apiVersion = cursor.text(1, to);
      cursor.at = from;
      envelope.kind = cursor.text(2, to);
    } else if (number === 2) {
      envelope.start = from;
      envelope.end = to;
    }
    cursor.at = to;
  }
  return envelope;
}
