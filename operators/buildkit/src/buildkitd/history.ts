import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import type { TLSSocket } from "node:tls";

/** buildkitd did not do what it was asked. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
}

/**
 * `{ ActiveOnly: true, EarlyExit: true }` of BuildHistoryRequest, in gRPC's frame: not compressed,
 * four bytes.
 */
const historyRequest = Buffer.from([0, 0, 0, 0, 4, 0x08, 0x01, 0x18, 0x01]);
/** `{ all: true }` of PruneRequest: internal and frontend images too. */
const pruneRequest = Buffer.from([0, 0, 0, 0, 2, 0x10, 0x01]);
const FRAME_HEADER = 5;

/**
 * How many builds buildkitd has under way: it is asked for its history, and answers with one
 * message for each.
 *
 * @param socket Ends with the call, whatever happens.
 * @throws HistoryError, or the signal's reason.
 */
export async function countActiveBuilds(socket: TLSSocket, signal: AbortSignal): Promise<number> {
  return await called(socket, "ListenBuildHistory", historyRequest, signal);
}

/**
 * Has buildkitd delete everything that is cached and not in use.
 *
 * @param socket Ends with the call, whatever happens.
 * @returns how many records it has deleted.
 * @throws HistoryError, or the signal's reason.
 */
export async function pruneCache(socket: TLSSocket, signal: AbortSignal): Promise<number> {
  return await called(socket, "Prune", pruneRequest, signal);
}

/** How many messages a call is answered with. */
async function called(
  socket: TLSSocket,
  method: string,
  request: Buffer,
  signal: AbortSignal,
): Promise<number> {
  const session = connectHttp2("https://worker", { createConnection: () => socket });
  try {
    return await ask(session, method, request, signal);
  } finally {
    session.destroy();
    socket.destroy();
  }
}

function ask(
  session: ClientHttp2Session,
  method: string,
  request: Buffer,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) => reject(new HistoryError(why, { cause }));
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    session.on("error", (error: Error) => fail(error.message, error));
    session.on("close", () => fail("the connection was closed"));
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: `/moby.buildkit.v1.Control/${method}`,
      "content-type": "application/grpc+proto",
      te: "trailers",
    });
    const chunks: Buffer[] = [];
    let status: unknown;
    const onHeaders = (headers: Readonly<Record<string, unknown>>) =>
      (status = headers["grpc-status"] ?? status);
    stream.on("response", onHeaders);
    stream.on("trailers", onHeaders);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error: Error) => fail(error.message, error));
    stream.on("end", () => {
      signal.removeEventListener("abort", onAbort);
      if (status === "0") resolve(messagesIn(Buffer.concat(chunks)));
      else fail(`it answered with gRPC status ${String(status)}`);
    });
    stream.end(request);
  });
}

/** How many messages there are in the frames of a gRPC stream. */
export function messagesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + FRAME_HEADER <= bytes.length; count++)
    at += FRAME_HEADER + bytes.readUInt32BE(at + 1);
  return count;
}
