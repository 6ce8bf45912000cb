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

/** Sends one request and reads the whole answer. Rejects with whatever Node says went wrong. */
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
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      read(incoming).then(resolve, reject);
    });
    outgoing.end(body);
  });
}

async function read(incoming: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new Error(`response body is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  const raw = Buffer.concat(chunks);
  const zipped = incoming.headers["content-encoding"] === "gzip";
  return {
    status: incoming.statusCode ?? 0,
    contentType: incoming.headers["content-type"] ?? "",
    location: incoming.headers.location,
    body: (zipped ? gunzipSync(raw) : raw).toString("utf8"),
  };
}
