/** What is wrong with a message. Few and fixed, so that a metric can have them as a label. */
export type MessageFault =
  | "start-line"
  | "version"
  | "target"
  | "method"
  | "host"
  | "field-line"
  | "line-ending"
  | "content-length"
  | "transfer-encoding"
  | "connection"
  | "chunk"
  | "trailer"
  | "too-large";

/**
 * A message that is not HTTP/1.1, or that two servers might read differently. Nothing of it is
 * forwarded, and its connection is closed: where the next message begins is unknown.
 */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
  readonly fault: MessageFault;
  /** The status by which a client learns of it. */
  readonly status: 400 | 414 | 431 | 501 | 505;

  constructor(fault: MessageFault, message: string, status: MalformedMessageError["status"] = 400) {
    super(message);
    this.fault = fault;
    this.status = status;
  }
}
