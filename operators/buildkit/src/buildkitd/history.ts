import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import type { TLSSocket } from "node:tls";

/** buildkitd did not say how many builds it has. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
}

/**
 * `{ ActiveOnly: true, EarlyExit: true }` of BuildHistoryRequest, in gRPC's frame: not compressed,
 * four bytes.
 */
const request = Buffer.from([0, 0, 0, 0, 4, 0x08, 0x01, 0x18, 0x01]);
const FRAME_HEADER = 5;

/**
 * How many builds buildkitd has under way: it is asked for its history, and answers with one
 * message for each.
 *
 * @param socket Ends with the call, whatever happens.
 * @throws HistoryError, or the signal's reason.
 */
export async function countActiveBuilds(socket: TLSSocket, signal: AbortSignal): Promise<number> {
  const session = connectHttp2("https://worker", { createConnection: () => socket });
  try {
    return await ask(session, signal);
  } finally {
    session.destroy();
    socket.destroy();
  }
}

function ask(session: ClientHttp2Session, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) => reject(new HistoryError(why, { cause }));
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    session.on("error", (error: Error) => fail(error.message, error));
    session.on("close", () => fail("the connection was closed"));
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: "/moby.buildkit.v1.Control/ListenBuildHistory",
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
