import type { KubernetesObject } from "@windlass/client";
import { MalformedMessageError } from "@windlass/client/protobuf";
import { isJson, type Scan, scanObject } from "./scan.ts";
import { type MessageScan, scanMessage } from "./scan-message.ts";

/** What tells one version of an object from all others of its kind. */
export type Identity = Pick<Scan, "namespace" | "name" | "uid" | "resourceVersion">;

/** An object as the server sent it, of which no more has been read than what identifies it. */
export type Received =
  | { readonly as: "json"; readonly bytes: Buffer; readonly scan: Scan }
  | { readonly as: "message"; readonly bytes: Buffer; readonly scan: MessageScan }
  /** It was not written as API servers write it, and had to be read whole. */
  | { readonly as: "parsed"; readonly object: KubernetesObject; readonly scan: Identity };

/** An object that was received in this form. */
export type ReceivedAs<Form extends Received["as"]> = Extract<Received, { as: Form }>;

/**
 * Identifies the object that stands in `bytes` from `start` to `end`, as JSON or as a message.
 *
 * @throws MalformedObjectError
 */
export function receive(bytes: Buffer, start: number, end: number): Received {
  if (!isJson(bytes, start)) {
    try {
      return { as: "message", bytes, scan: scanMessage(bytes, start, end) };
    } catch (error) {
      throw explain(error, end - start);
    }
  }
  const scan = scanObject(bytes, start, end);
  if (scan) return { as: "json", bytes, scan };
  const object = parse(bytes, start, end);
  if (!isObject(object)) throw nameless();
  const { namespace = "", name, uid = "", resourceVersion = "" } = object.metadata;
  return { as: "parsed", object, scan: { namespace, name, uid, resourceVersion } };
}

/**
 * The server sent something that is not a Kubernetes object. The connection it came by is not to be
 * trusted further.
 */
export class MalformedObjectError extends Error {
  override readonly name = "MalformedObjectError";
  readonly code = "MALFORMED_OBJECT";
}

/** @throws MalformedObjectError where `read` finds that bytes are not the message they should be */
export function explained<T>(
  { start, end }: { readonly start: number; readonly end: number },
  read: () => T,
): T {
  try {
    return read();
  } catch (error) {
    throw explain(error, end - start);
  }
}

function explain(error: unknown, length: number): unknown {
  if (!(error instanceof MalformedMessageError)) return error;
  return new MalformedObjectError(
    `the server sent ${length} bytes that are no object's message: ${error.message}`,
  );
}

/** What was sent for an object has no name. */
export function nameless(): MalformedObjectError {
  return new MalformedObjectError("the server sent an object without metadata.name");
}

/** @throws MalformedObjectError */
export function parse(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", start, end));
  } catch {
    // The text itself is not quoted: it may hold a Secret.
    throw new MalformedObjectError(`the server sent ${end - start} bytes that are not JSON`);
  }
}

/** Whether a value has what every Kubernetes object has. */
export function isObject(value: unknown): value is KubernetesObject {
  if (typeof value !== "object" || value === null || !("metadata" in value)) return false;
  const { metadata } = value;
  return (
    typeof metadata === "object" &&
    metadata !== null &&
    "name" in metadata &&
    typeof metadata.name === "string" &&
    metadata.name !== ""
  );
}
