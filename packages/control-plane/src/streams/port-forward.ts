import { connect, type Socket } from "node:net";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { badRequest } from "../status.ts";
import { acceptChannels, type ChannelListener } from "./channels.ts";

/**
 * Connections to ports of a pod, in the plain form that client libraries use: for each port in the query, a channel for data and
 * one for errors, each begun with the port's number.
 *
 * @throws StatusError 400
 */
export function forwardChannels(request: ApiRequest, query: URLSearchParams, address: string): ApiResponse {
  const ports = query
    .getAll("ports")
    .flatMap((list) => list.split(","))
    .map(Number);
  if (ports.length === 0) throw badRequest('query parameter "ports" is required');
  const wrong = ports.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrong !== undefined) throw badRequest('query parameter "ports" must be numbers from 1 to 65535');
  return acceptChannels(request, (client): ChannelListener => {
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
