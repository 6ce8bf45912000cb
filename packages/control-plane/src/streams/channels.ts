import { type ApiRequest, type ApiResponse, header } from "../http/request.ts";
import type { JsonObject } from "../json.ts";
import { badRequest, StatusError } from "../status.ts";
import { acceptSpdy, asksForSpdy, type SpdyStream } from "./spdy-session.ts";
import { acceptWebSocket, asksForWebSocket, offeredProtocols } from "./web-socket.ts";

/** What each channel of a remote command carries. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Several streams over one connection. */
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
 * Answers a request by going on with several streams: over a web socket, or over SPDY as older
 * clients do.
 *
 * @param wanted the channels that will be used: SPDY's clients open each of them, and are waited
 *   for
 * @throws StatusError 400 if the client did not ask for that, 403 if it offers no protocol that is
 *   spoken here
 */
export function acceptChannels(
  request: ApiRequest,
  wanted: readonly (keyof typeof channels)[],
  onOpen: (channels: Channels) => ChannelListener,
): ApiResponse {
  if (asksForSpdy(request)) return acceptSpdyChannels(request, wanted, onOpen);
  if (!asksForWebSocket(request)) throw badRequest("Upgrade request required");
  const protocol = chosen([...binary, ...base64], offeredProtocols(request));
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

/** @throws StatusError 403, as from the real server, which says no more than that */
function chosen(known: readonly string[], offered: readonly string[]): string {
  const protocol = known.find((name) => offered.includes(name));
  if (protocol !== undefined) return protocol;
  const message = `unable to upgrade: none of the protocols ${offered.join(", ")} is known. Known are: ${known.join(", ")}`;
  throw new StatusError({ code: 403, reason: "Forbidden", message });
}

/** The same with a stream of SPDY for each channel, which says by a header which it is. */
function acceptSpdyChannels(
  request: ApiRequest,
  wanted: readonly (keyof typeof channels)[],
  onOpen: (channels: Channels) => ChannelListener,
): ApiResponse {
  const offered = (header(request, "x-stream-protocol-version") ?? "").split(",").map((name) => name.trim());
  const protocol = chosen(["v4.channel.k8s.io"], offered);
  return acceptSpdy(protocol, (session) => {
    const streams = new Map<number, SpdyStream>();
    let listener: ChannelListener | undefined;
    const open = () => {
      listener = onOpen({
        send: (channel, data) => streams.get(channel)?.send(data) ?? 0,
        close: () => {
          for (const stream of streams.values()) stream.end();
          session.close();
        },
        pause: () => session.pause(),
        resume: () => session.resume(),
      });
    };
    return {
      onStream: (stream) => {
        const type = wanted.find((name) => name === stream.headers.get("streamtype"));
        if (type === undefined) return undefined;
        const channel = channels[type];
        streams.set(channel, stream);
        if (streams.size === wanted.length) open();
        return {
          onData: (data) => listener?.onData(channel, data),
          onEnd: () => listener?.onEnd(channel),
        };
      },
      onClose: () => listener?.onClose(),
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
