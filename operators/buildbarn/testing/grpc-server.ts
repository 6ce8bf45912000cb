import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { GrpcError, grpcCodes, type Method } from "../src/grpc/index.ts";

type Answer<A> = Iterable<A> | AsyncIterable<A>;
type Handler = (request: Buffer, stream: ServerHttp2Stream) => Promise<void>;

/** A server of gRPC on loopback whose methods are functions. */
export class GrpcServer implements AsyncDisposable {
  readonly #server: Http2Server;
  readonly #handlers = new Map<string, Handler>();
  readonly #sessions = new Set<ServerHttp2Session>();

  private constructor(server: Http2Server) {
    this.#server = server;
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.on("close", () => this.#sessions.delete(session));
      session.on("error", () => undefined);
    });
    server.on("stream", (stream, headers) => void this.#serve(stream, headers[":path"] ?? ""));
  }

  static async start(port = 0): Promise<GrpcServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    return new GrpcServer(server);
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  /** Answers a method. What it throws as a GrpcError is the call's status. */
  on<Q, A>(method: Method<Q, A>, answer: (request: Q) => Answer<Partial<A>>): void {
    this.raw(method.path, async (request, stream) => {
      for await (const one of answer(method.request.decode(request)))
        stream.write(frame(method.response.encode(one)));
      finish(stream, { "grpc-status": "0" });
    });
  }

  /** Answers a method with whatever bytes and headers. */
  raw(path: string, handler: Handler): void {
    this.#handlers.set(path, handler);
  }

  async #serve(stream: ServerHttp2Stream, path: string): Promise<void> {
    stream.on("error", () => undefined);
    try {
      const request = await buffer(stream);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      const handler = this.#handlers.get(path);
      if (!handler) throw new GrpcError("UNIMPLEMENTED", `unknown method ${path}`);
      await handler(request.subarray(5), stream);
    } catch (error) {
      if (stream.destroyed) return;
      const code = error instanceof GrpcError ? error.code : "UNKNOWN";
      const message = encodeURIComponent(error instanceof Error ? error.message : String(error));
      finish(stream, { "grpc-status": String(grpcCodes.indexOf(code)), "grpc-message": message });
    }
  }
}

/** Ends an answer with such trailers. */
export function finish(stream: ServerHttp2Stream, trailers: Readonly<Record<string, string>>): void {
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end();
}

/** A message as it travels. */
export function frame(message: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}
