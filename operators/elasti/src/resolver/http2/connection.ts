import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { ClientConnection, ClientTimeouts, ConnectionHost } from "../connection-host.ts";
import { peerAddress } from "../http1/forward.ts";
import { pathProbeHeader } from "../request.ts";
import type { Service } from "../service.ts";
import { hasConnectionSpecific } from "./connection-specific.ts";
import { failTo, Http2Exchange, respondTo } from "./exchange.ts";
import { grpcTimeout } from "./grpc-timeout.ts";

const limits = {
  maxSessionMemory: 10,
  maxHeaderListPairs: 128,
  maxSessionInvalidFrames: 100,
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: 64 * 1024, enablePush: false },
} as const;

/**
 * A client's connection of HTTP/2 without TLS. Each of its streams waits for an endpoint of its
 * own.
 */
export class Http2Connection implements ClientConnection {
  readonly #session: ServerHttp2Session;
  readonly #host: ConnectionHost;
  readonly #address: string;
  readonly #served = new Set<Service>();
  /** Frames are read whether their streams have room or not. */
  readonly inDoubt = undefined;
  #streams = 0;
  #idleSince: number;

  /** @param first what the client has already sent. */
  constructor(socket: Socket, first: Buffer, host: ConnectionHost) {
    this.#host = host;
    this.#address = peerAddress(socket);
    this.#idleSince = host.clock.monotonic();
    socket.pause();
    socket.unshift(first);
    const session = performServerHandshake(socket, limits);
    this.#session = session;
    session.on("stream", (stream, headers) => this.#serve(stream, headers));
    session.on("error", () => session.destroy());
    session.once("close", () => {
      socket.destroy();
      host.closed(this);
    });
  }

  enforce({ idleMs }: ClientTimeouts): void {
    if (this.#streams === 0 && this.#host.clock.monotonic() - this.#idleSince >= idleMs) this.leave();
  }

  seen(): void {
    // It is never in doubt.
  }

  /** Sends GOAWAY: streams that are open go on, and new ones need another connection. */
  leave(): void {
    if (!this.#session.closed) this.#session.close();
  }

  handBack(service: Service): void {
    if (this.#served.has(service)) this.leave();
  }

  destroy(): void {
    this.#session.destroy();
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#streams += 1;
    stream.on("error", () => stream.destroy());
    stream.once("close", () => {
      this.#streams -= 1;
      this.#idleSince = this.#host.clock.monotonic();
    });
    // Malformed, by HTTP/2's own words.
    if (hasConnectionSpecific(headers)) {
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    const { ":method": method = "GET" } = headers;
    if (method === "CONNECT") {
      respondTo(stream, headers, { status: 501, body: "CONNECT is not supported\n" });
      return;
    }
    const decision = this.#host.decide({
      method,
      target: headers[":path"] ?? "/",
      host: headers[":authority"] ?? headers.host,
      pathProbe: headers[pathProbeHeader]?.toString(),
      header: (name) => headers[name]?.toString(),
    });
    if (decision.do === "answer") {
      respondTo(stream, headers, decision.response);
      return;
    }
    if (decision.do === "fail") {
      failTo(stream, headers, decision.failure);
      return;
    }
    const { port, holdMs, afterHold } = decision;
    this.#served.add(port.service);
    const deadline = grpcTimeout(headers["grpc-timeout"]?.toString());
    new Http2Exchange(stream, headers, {
      port,
      host: this.#host,
      address: this.#address,
      holdMs: Math.min(holdMs, deadline),
      afterHold,
    }).start();
    if (port.service.isHandedBack || this.#host.isDraining()) this.leave();
  }
}
