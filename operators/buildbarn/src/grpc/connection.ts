import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { MalformedMessageError } from "@windlass/client/protobuf";
import { GrpcError, grpcCodes } from "./error.ts";
import type { Message } from "./message.ts";

/** A call of a service. */
export interface Method<Request, Response> {
  /** E.g. `/build.bazel.remote.execution.v2.ActionCache/GetActionResult`. */
  readonly path: string;
  readonly request: Message<Request>;
  readonly response: Message<Response>;
}

const FRAME_HEADER = 5;
/**
 * The most that one message may take. Buildbarn's own limit is 2 MiB, but lists of operations are
 * not held to it.
 */
const LARGEST_MESSAGE = 64 * 1024 * 1024;

/** How a server is reached. */
export interface ConnectionOptions {
  /**
   * Has the connection use TLS, with a server that one of these authorities has signed, in PEM.
   *
   * @default no TLS
   */
  readonly authorities?: string;
  /** What the server's certificate is to be for. @default the host of the address */
  readonly serverName?: string;
  /** Shown to a server that asks for it, in PEM, with its key. @default none */
  readonly certificate?: string;
  readonly key?: string;
  /** Sent with every call, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server of gRPC, and how it is reached. */
export interface GrpcServer extends ConnectionOptions {
  /** `host:port`. */
  readonly address: string;
}

/** A connection to a server of gRPC. It is made when the first call needs it. */
export class GrpcConnection implements Disposable {
  readonly #address: string;
  readonly #options: ConnectionOptions;
  #session: ClientHttp2Session | undefined;

  /** @param address `host:port`. */
  constructor(address: string, options: ConnectionOptions = {}) {
    this.#address = address;
    this.#options = options;
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  /**
   * Calls a method that has one answer.
   *
   * @throws {GrpcError} the server's status, or UNAVAILABLE if it cannot be reached.
   * @throws the signal's reason.
   */
  async call<Q, A>(method: Method<Q, A>, request: Partial<Q>, signal: AbortSignal): Promise<A> {
    let answer: A | undefined;
    for await (const one of this.stream(method, request, signal)) answer = one;
    if (answer === undefined) throw new GrpcError("INTERNAL", `${method.path}: the server sent no answer`);
    return answer;
  }

  /** Calls a method that has any number of answers, with the errors of {@link call}. */
  async *stream<Q, A>(
    method: Method<Q, A>,
    request: Partial<Q>,
    signal: AbortSignal,
  ): AsyncGenerator<A, void, void> {
    signal.throwIfAborted();
    const stream = this.#open(method.path);
    const abort = () => cancel(stream);
    signal.addEventListener("abort", abort, { once: true });
    try {
      const status = statusOf(stream, method.path);
      // A caller that stops reading early does not get the status of the call.
      status.catch(() => undefined);
      stream.end(framed(method.request.encode(request)));
      for await (const bytes of messagesOf(stream)) yield decoded(method, bytes);
      const failure = await status;
      if (failure) throw failure;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof GrpcError ? error : unavailable(this.#address, error);
    } finally {
      signal.removeEventListener("abort", abort);
      cancel(stream);
    }
  }

  #open(path: string): ClientHttp2Stream {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      const { authorities: ca, serverName: servername, certificate: cert, key } = this.#options;
      this.#session =
        ca === undefined
          ? connect(`http://${this.#address}`)
          : connect(`https://${this.#address}`, {
              ca,
              ALPNProtocols: ["h2"],
              ...(servername !== undefined && { servername }),
              ...(cert !== undefined && { cert }),
              ...(key !== undefined && { key }),
            });
      // Each call gets the error from its own stream.
      this.#session.on("error", () => undefined);
    }
    return this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...this.#options.headers,
    });
  }
}

/**
 * Ends a call, also one whose connection is still being made: Node closes a stream only once its
 * connection is ready, and where packets are dropped that takes minutes.
 */
function cancel(stream: ClientHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL);
  if (stream.pending) stream.destroy();
}

function framed(message: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

function decoded<Q, A>({ path, response }: Method<Q, A>, bytes: Buffer): A {
  try {
    return response.decode(bytes);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    throw new GrpcError("INTERNAL", `${path}: malformed answer: ${error.message}`, { cause: error });
  }
}

/** How the call ended: nothing where it succeeded. */
function statusOf(stream: ClientHttp2Stream, path: string): Promise<GrpcError | undefined> {
  return new Promise((resolve, reject) => {
    let headers: Readonly<Record<string, unknown>> = {};
    const hear = (more: Readonly<Record<string, unknown>>) => (headers = { ...headers, ...more });
    stream.on("response", hear);
    stream.on("trailers", hear);
    stream.on("error", reject);
    stream.on("close", () => resolve(failureIn(headers, path)));
  });
}

/** The call's status in the headers and trailers of an answer. */
export function failureIn(headers: Readonly<Record<string, unknown>>, path: string): GrpcError | undefined {
  const status = headers["grpc-status"];
  if (status === "0") return undefined;
  const code = typeof status === "string" ? grpcCodes[Number(status)] : undefined;
  if (code === undefined) {
    const http = headers[":status"];
    const why =
      http === undefined
        ? "the connection was closed"
        : `HTTP status ${JSON.stringify(http)}, and no gRPC status`;
    return new GrpcError("UNAVAILABLE", `${path}: ${why}`);
  }
  return new GrpcError(code, `${path}: ${unescaped(headers["grpc-message"]) || code}`);
}

/** Messages travel with percent signs before the bytes that a header cannot have. */
function unescaped(text: unknown): string {
  if (typeof text !== "string") return "";
  const bytes = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The messages in the frames of a stream, as they come. */
export async function* messagesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let waiting: Buffer[] = [];
  let have = 0;
  let need = FRAME_HEADER;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    have += chunk.length;
    if (have < need) continue;
    let bytes = Buffer.concat(waiting);
    for (;;) {
      need = bytes.length < FRAME_HEADER ? FRAME_HEADER : frameLength(bytes);
      if (bytes.length < need) break;
      yield bytes.subarray(FRAME_HEADER, need);
      bytes = bytes.subarray(need);
    }
    waiting = [bytes];
    have = bytes.length;
  }
}

function frameLength(bytes: Buffer): number {
  if (bytes[0] !== 0)
    throw new GrpcError("INTERNAL", "the server sent a compressed message, which was not asked for");
  const length = bytes.readUInt32BE(1);
  if (length > LARGEST_MESSAGE)
    throw new GrpcError("RESOURCE_EXHAUSTED", `the server sent a message of ${length} bytes`);
  return FRAME_HEADER + length;
}

function unavailable(address: string, error: unknown): GrpcError {
  const why = error instanceof Error ? error.message : String(error);
  return new GrpcError("UNAVAILABLE", `${address}: ${why}`, { cause: error });
}
