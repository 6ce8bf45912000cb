import type { Socket } from "node:net";
import { TransportError } from "../errors.ts";
import type { Dialing } from "./channel.ts";
import { closedEarly, failureFrom } from "./failure.ts";
import { portOf, proxyAuthorization } from "./proxy.ts";
import { MalformedResponseError, ResponseParser } from "./response-parser.ts";

/** From where to where a tunnel leads. */
export interface TunnelEnds {
  readonly proxy: URL;
  readonly server: URL;
}

/**
 * Asks the proxy at the other end of a socket for a tunnel to the server. From the answer on the
 * socket is the tunnel.
 */
export function askForTunnel(
  socket: Socket,
  { proxy, server }: TunnelEnds,
  dialing: Pick<Dialing, "failed">,
  onOpen: () => void,
): void {
  let status: number | undefined;
  let extraBytes = 0;
  const parser = new ResponseParser({
    head: (head) => {
      status = head.status;
    },
    body: (_bytes, start, end) => {
      extraBytes += end - start;
    },
    end: () => undefined,
  });
  const onData = (chunk: Buffer) => {
    try {
      const at = parser.take(chunk, 0, chunk.length);
      if (status === undefined) return;
      extraBytes += chunk.length - at;
    } catch (error) {
      dialing.failed(error);
      return;
    }
    socket.off("data", onData);
    socket.pause();
    if (status < 200 || status > 299) dialing.failed(new RefusedTunnelError(status));
    // It is this side that speaks first through a tunnel to a TLS server.
    else if (extraBytes > 0) dialing.failed(new MalformedResponseError("bytes after the answer to CONNECT"));
    else onOpen();
  };
  socket.on("data", onData);
  const authorization = Object.entries(proxyAuthorization(proxy)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const target = `${server.hostname}:${portOf(server)}`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization.join("")}\r\n`);
}

/** What the proxy answered instead of opening a tunnel. */
class RefusedTunnelError extends Error {
  override readonly name = "RefusedTunnelError";
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answered ${status}`);
    this.status = status;
  }
}

/** The error of a connection that failed before there was a tunnel. */
export function proxyFailure(proxy: URL, server: URL, error: unknown): TransportError {
  const through = `${server.origin} through the proxy ${proxy.protocol}//${proxy.host}`;
  const message =
    error instanceof RefusedTunnelError
      ? `${through}: ${error.message}; check proxy-url or HTTPS_PROXY, and NO_PROXY`
      : failureFrom(error ?? closedEarly(), { request: through, mayHaveBeenSent: false }).message;
  return new TransportError("PROXY_FAILED", message, { cause: error, mayHaveBeenSent: false });
}
