import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { acceptWebSocket, asksForWebSocket, offeredProtocols } from "./web-socket.ts";

/**
 * The same answer for a client that asked to go on as a web socket: a stream whose every chunk is a
 * message. What is no stream is answered as it is.
 */
export function asWebSocket(request: ApiRequest, response: ApiResponse): ApiResponse {
  const { body, status, headers } = response;
  if (status !== 200 || typeof body !== "function" || !asksForWebSocket(request)) return response;
  const kind = String(headers["content-type"]).startsWith("application/json") ? "text" : "binary";
  // Whatever is offered first is agreed to, and changes nothing.
  const [protocol] = offeredProtocols(request);
  return acceptWebSocket(request, protocol || undefined, (connection) => {
    const stop = body({
      write: (chunk) => connection.send(kind, chunk),
      drained: (listener) => connection.drained(listener),
      end: () => connection.close(),
    });
    return { onMessage: () => undefined, onClose: stop };
  });
}
