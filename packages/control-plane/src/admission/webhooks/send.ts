import { request as httpRequest, type IncomingMessage } from "node:http";
import { type Agent, request as httpsRequest } from "node:https";
import { gunzipSync } from "node:zlib";

/** Larger answers are not read to their end. */
const mostBytes = 16 * 1024 * 1024;

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
    headers: { ...call.headers, ...(method === "POST" ? { "content-length": body.byteLength } : {}) },
  };
  return new Promise((resolve, reject) => {
    const outgoing = agent
      ? httpsRequest(target, { ...options, agent })
      : httpRequest(target, { ...options });
    outgoing.on("error", reject);
    outgoing.once("response", (incoming) => {
      outgoing.off("error", reject).on("error", () => undefined);
      read(incoming, signal).then(resolve, reject);
    });
    outgoing.end(body);
  });
}

async function read(incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new BodyError("unexpected EOF", { cause: error });
  }
  // One that ends with its connection ends well, too, where it is we who end that.
  if (signal.aborted) throw new BodyError("unexpected EOF");
  if (size > mostBytes) throw new Error(`response body is larger than ${mostBytes} bytes`);
  const raw = Buffer.concat(chunks);
  const zipped = incoming.headers["content-encoding"] === "gzip";
  return {
    status: incoming.statusCode ?? 0,
    contentType: incoming.headers["content-type"] ?? "",
    location: incoming.headers.location,
    body: (zipped ? gunzipSync(raw) : raw).toString("utf8"),
  };
}
