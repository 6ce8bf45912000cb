import type { Status } from "../errors.ts";
import { openEnvelope } from "./envelope.ts";
import { loadMessages, messageNamed } from "./message-types.ts";
import { readMessage } from "./read-message.ts";
import { MalformedMessageError } from "./wire.ts";

/** The Status that a server sent as protobuf; undefined if these bytes are none. */
export async function readStatus(bytes: Buffer): Promise<Status | undefined> {
  await loadMessages();
  try {
    const { kind, start, end } = openEnvelope(bytes, 0, bytes.length);
    if (kind !== "Status") return undefined;
    return {
      ...readMessage(messageNamed("meta.v1.Status"), bytes, start, end),
      kind: "Status",
      apiVersion: "v1",
    };
  } catch (error) {
    if (error instanceof MalformedMessageError) return undefined;
    throw error;
  }
}
