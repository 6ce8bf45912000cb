import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type Transport, TransportError } from "@windlass/client";
import { tokenHeader } from "./far-end.ts";
import { framesIn } from "./frames.ts";

/** What the end of a tunnel on this machine needs. */
export interface NearEndParts {
  /** To the API server, without repetitions: a connection that broke is one that broke. */
  readonly transport: Transport;
  /** Where the API server passes requests on to the far end. */
  readonly path: string;
  readonly token: string;
  /** Where connections lead to on this machine. */
  readonly port: number;
  readonly signal: AbortSignal;
  /** Told when calls cannot be led here, and when they can again. */
  readonly onState: (words: string) => void;
  /** Sees to the far end before it is tried again. @default nobody does */
  readonly mend?: (signal: AbortSignal) => Promise<void>;
}

/** How long after a broken connection it is tried again. */
const retryMs = 1_000;

/**
 * Leads connections from the far end to a port of this machine, until aborted. Starts over when it
 * breaks.
 */
export async function nearEnd(parts: NearEndParts): Promise<void> {
  const { signal, onState, mend } = parts;
  let isBroken = false;
  while (!signal.aborted) {
    try {
      if (isBroken) await mend?.(signal);
      await relayOnce(parts, () => {
        if (isBroken) onState("calls are forwarded here again");
        isBroken = false;
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      if (!isBroken) onState(`calls are not led here: ${error.message}`);
      isBroken = true;
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether the next try may go well. */
function isPassing(error: unknown): error is Error {
  return error instanceof TransportError || error instanceof ApiError || error instanceof TunnelError;
}

/** The far end did not answer as it does. */
export class TunnelError extends Error {
  override readonly name = "TunnelError";
}

async function relayOnce(parts: NearEndParts, onUp: () => void): Promise<void> {
  const { transport, path, token, port, signal } = parts;
  const headers = { [tokenHeader]: token };
  const stream = await transport.request({
    method: "GET",
    path: `${path}/down`,
    headers,
    signal,
    retry: "never",
    // The far end says something every ten seconds.
    idleTimeout: "30s",
  });
  if (stream.status !== 200) throw new TunnelError(`the pod of the tunnel answers with ${stream.status}`);
  const connections = new Map<number, Socket>();
  /** Writes to the far end. @throws TunnelError unless it took it */
  const send = async (query: string, body: Buffer) => {
    const request = { method: "POST", path: `${path}/up?${query}`, headers, body, signal } as const;
    const response = await transport.request({ ...request, retry: "never" });
    for await (const _ of response.body);
    if (response.status !== 204)
      throw new TunnelError(`the pod of the tunnel answers with ${response.status}`);
  };
  const open = (id: number): Socket => {
    const socket = connect(port, "127.0.0.1");
    let isLost = false;
    let turn: Promise<void> = Promise.resolve();
    /** One after the other. What comes after something that was lost would be read in its place. */
    const post = (query: string, body: Buffer) => {
      turn = turn
        .then(() => (isLost ? undefined : send(`id=${id}${query}`, body)))
        .catch(() => {
          if (isLost) return undefined;
          isLost = true;
          connections.delete(id);
          socket.destroy();
          // The other end must not wait for the rest.
          return send(`id=${id}&end`, Buffer.alloc(0)).catch(() => undefined);
        });
    };
    socket.on("data", (bytes: Buffer) => post("", bytes));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      if (connections.delete(id)) post("&end", Buffer.alloc(0));
    });
    connections.set(id, socket);
    return socket;
  };
  try {
    for await (const { id, bytes } of framesIn(stream.body)) {
      onUp();
      if (id === 0) continue;
      if (bytes.length > 0) (connections.get(id) ?? open(id)).write(bytes);
      else {
        const socket = connections.get(id);
        connections.delete(id);
        socket?.end();
      }
    }
  } finally {
    for (const socket of connections.values()) socket.destroy();
  }
  throw new TunnelError("the connection to the pod of the tunnel ended");
}
