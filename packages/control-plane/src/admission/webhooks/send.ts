import { request as httpRequest, type IncomingMessage } from "node:http";
import { type Agent, request as httpsRequest } from "node:https";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";

/**
 * Larger answers are not read to their end, unless as much was sent: a list comes back converted.
 */
const mostBytes = 16 * 1024 * 1024;
const mostPerByteSent = 4;
/** As much as Go reads. */
const largestHeader = 1024 * 1024;

/** What a server answered. */
export interface Response {
  readonly status: number;
  readonly contentType: string;
  readonly location: string | undefined;
  readonly body: string;
}

/** The head of an answer came, and its body did not, or not to its end. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/**
 * Sends one request and reads the whole answer. Rejects with a {@link BodyError}, or before the
 * answer has begun with whatever Node says went wrong.
 */
export function send(call: {
  readonly method: "POST" | "GET";
  readonly target: URL;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Absent for plain HTTP. */
  readonly agent: Agent | undefined;
}): Promise<Response> {
  const { method, target, signal, agent } = call;
  const body = Buffer.from(call.body);
  const options = {
    method,
    signal,
    // Go accepts what Node's parser refuses by default: repeated lengths, folded headers, bare LF.
    insecureHTTPParser: true,
    maxHeaderSize: largestHeader,
    headers: { ...call.headers, ...(method === "POST" ? { "content-length": body.byteLength } : {}) },
  };
  return new Promise((resolve, reject) => {
    const outgoing = agent
      ? httpsRequest(target, { ...options, agent })
      : httpRequest(target, { ...options });
    outgoing.on("error", reject);
    // Otherwise the request would never end where a server changes the protocol.
    outgoing.once("upgrade", ({ statusCode = 101, headers }, socket) => {
      socket.destroy();
      const contentType = headers["content-type"] ?? "";
      resolve({ status: statusCode, contentType, location: undefined, body: "" });
    });
    const closed = () => reject(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    outgoing.once("close", closed);
    outgoing.once("response", (incoming) => {
      outgoing
        .off("close", closed)
        .off("error", reject)
        .on("error", () => undefined);
      read(incoming, signal, Math.max(mostBytes, mostPerByteSent * body.byteLength)).then(resolve, reject);
    });
    outgoing.end(body);
  });
}

async function read(incoming: IncomingMessage, signal: AbortSignal, most: number): Promise<Response> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of contentOf(incoming)) {
      size += chunk.byteLength;
      if (size > most) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new BodyError(bodyFault(error), { cause: error });
  }
  // One that ends with its connection ends well, too, where it is we who end that.
  if (signal.aborted) throw new BodyError("unexpected EOF");
  if (size > most) throw new Error(`response body is larger than ${most} bytes`);
  return {
    status: incoming.statusCode ?? 0,
    contentType: incoming.headers["content-type"] ?? "",
    location: incoming.headers.location,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

/** The body as it was before it was compressed: a little may stand for a lot. */
function contentOf(incoming: IncomingMessage): AsyncIterable<Buffer> {
  return incoming.headers["content-encoding"]?.toLowerCase() === "gzip" ? unzipped(incoming) : incoming;
}

async function* unzipped(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  const content = createGunzip();
  // The reader of the content gets the error of either.
  pipeline(incoming, content, () => undefined);
  try {
    yield* content as AsyncIterable<Buffer>;
  } catch (error) {
    // Nothing is nothing, compressed or not.
    if ((error as NodeJS.ErrnoException).code !== "Z_BUF_ERROR" || content.bytesWritten > 0) throw error;
  }
}

function bodyFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "Z_DATA_ERROR" && message === "incorrect header check") return "gzip: invalid header";
  return code === "Z_DATA_ERROR" ? "gzip: invalid checksum" : "unexpected EOF";
}
