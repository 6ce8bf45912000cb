/**
 * Kubernetes' protobuf, read: the messages of the built-in kinds as the objects that the server's
 * JSON would show.
 */
export { type Envelope, openEnvelope } from "./envelope.ts";
export { knownVersion, loadMessages, type MessageType, messageNamed, messageOf } from "./message-types.ts";
export { type ReadOptions, readMessage } from "./read-message.ts";
export { DELIMITED, FIXED64, MalformedMessageError, VARINT, WireCursor } from "./wire.ts";
