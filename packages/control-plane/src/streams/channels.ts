import type { ApiRequest, ApiResponse } from "../http/request.ts";
import type { JsonObject } from "../json.ts";
import { badRequest } from "../status.ts";
import { acceptWebSocket, asksForWebSocket, offeredProtocols } from "./web-socket.ts";

/** What each channel of a remote command carries. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Several streams over one web socket: the first byte of a message says which. */
export interface Channels {
  /** @returns how many bytes wait to be taken by the client */
  send(channel: number, data: Uint8Array): number;
  close(): void;
  pause(): void;
  resume(): void;
}

export interface ChannelListener {
  readonly onData: (channel: number, data: Buffer) => void;
  /** The client will send nothing more on a channel. Only the newest protocol can say so. */
  readonly onEnd: (channel: number) => void;
  /** The connection has ended. */
  readonly onClose: () => void;
}

const binary = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const base64 = ["v4.base64.channel.k8s.io", "base64.channel.k8s.io"];

/**
 * Answers a request by going on with several streams.
 *
 * @throws StatusError 400 if the client did not ask for that, or offers no protocol that is spoken here
 */
export function acceptChannels(
  request: ApiRequest,
  onOpen: (channels: Channels) => ChannelListener,
): ApiResponse {
  if (!asksForWebSocket(request)) throw badRequest("Upgrade request required");
  const offered = offeredProtocols(request);
  const protocol = [...binary, ...base64].find((known) => offered.includes(known));
  if (protocol === undefined) {
    throw badRequest(
      `websocket: none of the protocols ${offered.join(", ")} is known. Known are: ${[...binary, ...base64].join(", ")}`,
    );
  }
  const isText = base64.includes(protocol);
  return acceptWebSocket(request, protocol, (connection) => {
    const listener = onOpen({
      send: (channel, data) =>
        isText
          ? connection.send("text", Buffer.from(`${channel}${Buffer.from(data).toString("base64")}`))
          : connection.send("binary", Buffer.concat([Buffer.from([channel]), data])),
      close: () => connection.close(),
      pause: () => connection.pause(),
      resume: () => connection.resume(),
    });
    return {
      onMessage: (message) => {
        const [first] = message;
        if (first === undefined) return;
        const channel = isText ? first - 48 : first;
        const rest = message.subarray(1);
        const data = isText ? Buffer.from(rest.toString(), "base64") : rest;
        if (channel === channels.close && protocol === "v5.channel.k8s.io") listener.onEnd(data[0] ?? 0);
        else listener.onData(channel, data);
      },
      onClose: listener.onClose,
    };
  });
}

/** How a remote command ended, in the words of the last message on the error channel. */
export function exitStatus(code: number): JsonObject {
  if (code === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
}

/** That a remote command could not be run at all. */
export function failureStatus(message: string): JsonObject {
  return {
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  };
}
