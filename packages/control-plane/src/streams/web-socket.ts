import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { type ApiRequest, type ApiResponse, header } from "../http/request.ts";
import { badRequest } from "../status.ts";
import { FrameError, FrameReader, frame, opcodes } from "./frames.ts";

/** A message-based connection to a client. */
export interface WebSocketConnection {
  /** @returns how many bytes wait to be taken by the client */
  send(kind: "text" | "binary", data: Uint8Array): number;
  /** Calls back, later, when what waits now has been taken. */
  drained(listener: () => void): void;
  close(code?: number, reason?: string): void;
  /** Pauses and resumes reading, for back-pressure. */
  pause(): void;
  resume(): void;
}

export interface WebSocketListener {
  readonly onMessage: (data: Buffer, kind: "text" | "binary") => void;
  /** Called once when the connection has ended, from either side. */
  readonly onClose: () => void;
}

/** Whether a request asks to go on as a web socket. */
export function asksForWebSocket(request: Pick<ApiRequest, "method" | "headers">): boolean {
  return (
    request.method === "GET" &&
    /\bupgrade\b/i.test(header(request, "connection") ?? "") &&
    /^websocket$/i.test(header(request, "upgrade") ?? "")
  );
}

/** The protocols that a client offers to speak, in its order. */
export function offeredProtocols(request: Pick<ApiRequest, "headers">): string[] {
  return (header(request, "sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
}

/**
 * Answers a request by going on as a web socket.
 *
 * @param protocol what will be spoken, if anything was agreed on
 * @throws StatusError 400 if the request is not a proper one
 */
export function acceptWebSocket(
  request: ApiRequest,
  protocol: string | undefined,
  onOpen: (connection: WebSocketConnection) => WebSocketListener,
): ApiResponse {
  const key = header(request, "sec-websocket-key");
  if (key === undefined || header(request, "sec-websocket-version") !== "13") {
    throw badRequest("websocket: the client must send Sec-WebSocket-Key, and version 13");
  }
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return {
    status: 101,
    headers: {
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-accept": accept,
      ...(protocol === undefined ? {} : { "sec-websocket-protocol": protocol }),
    },
    body: "",
    takeover: (socket, head) => speak(socket, head, onOpen),
  };
}

function speak(
  socket: Duplex,
  head: Uint8Array,
  onOpen: (connection: WebSocketConnection) => WebSocketListener,
): void {
  const reader = new FrameReader();
  let isClosing = false;
  const close = (code = 1000, reason = "") => {
    if (isClosing) return;
    isClosing = true;
    const data = Buffer.alloc(2 + Buffer.byteLength(reason));
    data.writeUInt16BE(code);
    data.write(reason, 2);
    socket.end(frame(opcodes.close, data));
  };
  const listener = onOpen({
    send: (kind, data) => {
      if (!isClosing && socket.writable) socket.write(frame(opcodes[kind], data));
      return socket.writableLength;
    },
    drained: (drained) => {
      if (socket.writableNeedDrain) socket.once("drain", drained);
      else setImmediate(drained);
    },
    close,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  });
  const read = (chunk: Uint8Array) => {
    try {
      for (const received of reader.read(chunk)) {
        if (received.kind === "ping") socket.write(frame(opcodes.pong, received.data));
        else if (received.kind === "close") close(received.code === 1005 ? 1000 : received.code);
        else if (received.kind !== "pong" && !isClosing) listener.onMessage(received.data, received.kind);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      socket.off("data", read);
      close(error.code, error.message.slice(0, 120));
    }
  };
  socket.on("error", () => socket.destroy());
  socket.once("end", () => socket.end());
  socket.once("close", () => listener.onClose());
  socket.on("data", read);
  if (head.byteLength > 0) read(head);
}
