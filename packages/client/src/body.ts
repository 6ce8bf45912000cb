import { isRecord } from "@windlass/kinds/json";
import { ApiError, type Status, TransportError } from "./errors.ts";
import type { TransportResponse } from "./transport.ts";

/** What a body is read for. */
export interface BodyLimit {
  /** E.g. `GET /api/v1/pods`; it leads the message. */
  readonly request: string;
  /** The most bytes to hold in memory, decompressed. */
  readonly maxBytes: number;
}

/**
 * The whole body, in one piece.
 *
 * @throws TransportError with code RESPONSE_TOO_LARGE.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  { request, maxBytes }: BodyLimit,
): Promise<Buffer> {
  const { bytes, isWhole } = await collect(body, maxBytes);
  if (isWhole) return bytes;
  throw new TransportError(
    "RESPONSE_TOO_LARGE",
    `${request}: the answer is larger than the ${maxBytes} bytes that are read into memory; ask for pages (limit), or raise maxResponseBytes`,
  );
}

/** A body up to so many bytes. What comes after them is not read. */
async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), isWhole: false };
  }
  const [only] = chunks;
  const bytes =
    chunks.length === 1 && only
      ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
      : Buffer.concat(chunks, length);
  return { bytes, isWhole: true };
}

/** Bodies above this are not worth reading only to keep their connection. */
const WORTH_DRAINING = 256 * 1024;

/**
 * Reads an unwanted body to its end, so that its connection can serve the next request.
 * Never fails: if the rest cannot be read, the connection is simply lost.
 */
export async function discardBody(body: AsyncIterable<Uint8Array>): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > WORTH_DRAINING) return;
    }
  } catch (error) {
    // An answer that is thrown away has no reader; the next request opens a connection and reports
    // on that.
    if (!(error instanceof Error)) throw error;
  }
}

/**
 * What is asked for while an answer waits to be passed on. If it fails, the answer has no reader
 * any more, and its connection is given back.
 */
export async function orDiscard<T>(response: TransportResponse, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    await discardBody(response.body);
    throw error;
  }
}

/**
 * Parses what a server sent as JSON.
 *
 * @throws TransportError with code RESPONSE_MALFORMED. The text itself is not quoted: it may hold a
 *   Secret.
 */
export function parseJson(bytes: Buffer, request: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new TransportError(
      "RESPONSE_MALFORMED",
      `${request}: the answer (${bytes.byteLength} bytes) is not JSON; is it an API server that answers there?`,
    );
  }
}

/** The longest text of a foreign answer (a proxy's, say) to repeat in a message. */
const LONGEST_QUOTE = 200;

/** Far more than a Status is; what is longer is no Status, and only its beginning is quoted. */
const LARGEST_STATUS = 1024 * 1024;

/** The error that a response with a status of 400 or more stands for. Reads the body. */
export async function errorFrom(response: TransportResponse, request: string): Promise<ApiError> {
  const { bytes } = await collect(response.body, LARGEST_STATUS);
  const type = String(response.headers["content-type"] ?? "");
  return new ApiError(statusFrom(response, bytes, type, await parseStatus(bytes, type)), request);
}

/** What an answer says, if it is in a language that is understood. */
async function parseStatus(bytes: Buffer, type: string): Promise<unknown> {
  if (type.includes("json")) return tryJson(bytes);
  if (!type.startsWith("application/vnd.kubernetes.protobuf")) return undefined;
  const { readStatus } = await import("./protobuf/read-status.ts");
  return await readStatus(bytes);
}

function statusFrom(response: TransportResponse, bytes: Buffer, type: string, parsed: unknown): Status {
  const retryAfter = retryAfterSeconds(response.headers);
  const wait = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
  if (isRecord(parsed) && parsed.kind === "Status") {
    const status = parsed as Status;
    return { ...status, code: status.code ?? response.status, details: { ...wait, ...status.details } };
  }
  const text = type.includes("html") ? "" : oneLine(bytes.toString("utf8"));
  return {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code: response.status,
    message: text === "" ? `the server answered ${response.status}` : text,
    details: wait,
  };
}

/**
 * The `Retry-After` header in whole seconds; undefined if absent or a date, which API servers never
 * send.
 */
export function retryAfterSeconds(headers: TransportResponse["headers"]): number | undefined {
  const value = headers["retry-after"];
  return typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function tryJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}
