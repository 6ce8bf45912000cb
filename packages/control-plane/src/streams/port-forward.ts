import { connect, type Socket } from "node:net";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { badRequest } from "../status.ts";
import { acceptChannels, type ChannelListener } from "./channels.ts";
import {
  acceptSpdy,
  asksForSpdy,
  type SessionListener,
  SpdySession,
  type SpdyStream,
} from "./spdy-session.ts";
import { acceptWebSocket, asksForWebSocket, offeredProtocols } from "./web-socket.ts";

/** What kubectl speaks: SPDY, inside of a web socket. */
const tunnel = "SPDY/3.1+portforward.k8s.io";
const protocol = "portforward.k8s.io";
/** So much may wait to be taken by a client before the pod that sends it has to wait too. */
const mostWaiting = 1024 * 1024;

/**
 * `kubectl port-forward`: connections to ports of a pod.
 *
 * @throws StatusError 400
 */
export function portForward(request: ApiRequest, query: URLSearchParams, address: string): ApiResponse {
  if (asksForSpdy(request)) return acceptSpdy(protocol, (session) => forwardStreams(address, session));
  if (!asksForWebSocket(request)) throw badRequest("Upgrade request required");
  if (!offeredProtocols(request).includes(tunnel)) return forwardChannels(request, query, address);
  return acceptWebSocket(request, tunnel, (connection) => {
    const wire = {
      send: (bytes: Buffer) => connection.send("binary", bytes),
      close: () => connection.close(),
    };
    const session: SpdySession = new SpdySession(
      wire,
      forwardStreams(address, { close: () => session.close() }),
    );
    return { onMessage: (data) => session.push(data), onClose: () => session.ended() };
  });
}

/**
 * Two streams for each connection: its data, and what went wrong with it. They name the port, and
 * each other.
 */
function forwardStreams(address: string, session: { close(): void }): SessionListener {
  const errors = new Map<string, SpdyStream>();
  const sockets = new Set<Socket>();
  return {
    onStream: (stream) => {
      const request = stream.headers.get("requestid") ?? "";
      const port = Number(stream.headers.get("port"));
      const type = stream.headers.get("streamtype");
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
      if (type === "error") {
        errors.set(request, stream);
        return { onData: () => undefined, onEnd: () => undefined };
      }
      const error = errors.get(request);
      if (type !== "data" || !error) return undefined;
      errors.delete(request);
      const socket = connect({ host: address, port, allowHalfOpen: true });
      sockets.add(socket);
      socket.on("data", (chunk: Buffer) => {
        if (stream.send(chunk) <= mostWaiting) return;
        socket.pause();
        setTimeout(() => socket.resume(), 10);
      });
      socket.once("end", () => stream.end());
      socket.on("error", ({ message }) =>
        error.send(Buffer.from(`an error occurred forwarding ${port} to the pod: ${message}`)),
      );
      socket.once("close", () => {
        sockets.delete(socket);
        stream.end();
        error.end();
      });
      return { onData: (data) => socket.write(data), onEnd: () => socket.end() };
    },
    onClose: () => {
      for (const socket of sockets) socket.destroy();
      session.close();
    },
  };
}

/**
 * Connections to ports of a pod, in the plain form that client libraries use: for each port in the
 * query, a channel for data and one for errors, each begun with the port's number.
 *
 * @throws StatusError 400
 */
function forwardChannels(request: ApiRequest, query: URLSearchParams, address: string): ApiResponse {
  const ports = query
    .getAll("ports")
    .flatMap((list) => list.split(","))
    .map(Number);
  if (ports.length === 0) throw badRequest('query parameter "port" is required');
  const wrong = ports.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrong !== undefined) throw badRequest('query parameter "port" must be numbers from 1 to 65535');
  return acceptChannels(request, [], (client): ChannelListener => {
    const sockets: Socket[] = ports.map((port, index) => {
      const head = Buffer.alloc(2);
      head.writeUInt16LE(port);
      for (const channel of [2 * index, 2 * index + 1]) client.send(channel, head);
      const socket = connect({ host: address, port });
      socket.on("data", (chunk: Buffer) => client.send(2 * index, chunk));
      socket.on("error", (error) => {
        client.send(2 * index + 1, Buffer.from(`error forwarding port ${port} to pod: ${error.message}`));
      });
      socket.once("close", () => {
        if (sockets.every(({ destroyed }) => destroyed)) client.close();
      });
      return socket;
    });
    return {
      onData: (channel, data) => {
        if (channel % 2 === 0) sockets[channel / 2]?.write(data);
      },
      onEnd: (channel) => {
        if (channel % 2 === 0) sockets[channel / 2]?.end();
      },
      onClose: () => {
        for (const socket of sockets) socket.destroy();
      },
    };
  });
}
