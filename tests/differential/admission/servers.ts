import type { ControlPlane } from "@windlass/control-plane";
import * as servers from "../servers.ts";

/** An answer with its body parsed. */
export interface ServerResponse {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: Record<string, unknown>;
}

export interface Sending {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A server under comparison. */
export interface Server {
  readonly name: "real" | "embedded";
  send(sending: Sending): Promise<ServerResponse>;
  /**
   * Waits until a change of its admission configuration holds: the real server takes a second or
   * two.
   */
  settle(): Promise<void>;
  /**
   * Waits until what was written is seen: a write on top of an old copy is tried again, and asks
   * its webhooks twice.
   */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/** The server of a kubeconfig that holds its certificates inline. */
export function openReal(path: string): Server {
  const server = servers.openReal(path);
  return {
    name: "real",
    settle: () => new Promise((resolve) => setTimeout(resolve, 2_000)),
    catchUp: () => new Promise((resolve) => setTimeout(resolve, 100)),
    close: async () => server[Symbol.asyncDispose](),
    send: (sending) => send(server, sending),
  };
}

export async function openEmbedded(): Promise<Server & { readonly plane: ControlPlane }> {
  const server = await servers.openEmbedded();
  return {
    name: "embedded",
    plane: server.plane,
    settle: () => Promise.resolve(),
    catchUp: () => Promise.resolve(),
    close: async () => server[Symbol.asyncDispose](),
    send: (sending) => send(server, sending),
  };
}

async function send(server: servers.Server, sending: Sending): Promise<ServerResponse> {
  const { status, warnings, body } = await server.send(sending);
  const isRecord = typeof body === "object" && body !== null;
  return { status, warnings, body: isRecord ? (body as Record<string, unknown>) : { text: body } };
}
