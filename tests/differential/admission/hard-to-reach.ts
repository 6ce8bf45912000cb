import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket, Server as TcpServer } from "node:net";
import { createAuthority } from "@windlass/certificates";

export const day = 24 * 3_600_000;
export const host = "127.0.0.1";
/** Who is trusted where a case does not say otherwise. */
export const authority = createAuthority({ commonName: "hooks", validFor: day });
export const usages = ["server"] as const;
export const serving = authority.issue({ commonName: "hooks", ipAddresses: [host], usages, validFor: day });

/** One webhook: what it is served with, and how the configuration finds it. */
export interface HookCase {
  readonly name: string;
  /** @returns the port that the webhook listens on */
  readonly serve: () => Promise<number>;
  /** What follows the port in the URL. @default /hook */
  readonly path?: string;
  /** PEM of what the configuration trusts; empty for nothing. @default the authority */
  readonly trust?: string;
  /** The host in the URL. @default 127.0.0.1 */
  readonly host?: string;
  /** Why the embedded server's words are other ones, where they are. */
  readonly known?: string;
  /** How long the webhook may take. @default 5 */
  readonly timeoutSeconds?: number;
}

/** What arrived at the webhooks. */
export const seen: string[] = [];
/** All webhooks that listen. */
export const open: TcpServer[] = [];

export async function listen(server: TcpServer): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Takes what it is sent, and says nothing. */
export function mute(socket: Socket): void {
  socket.on("error", () => undefined).resume();
}

/** Says something as soon as it is asked, and nothing more. */
export function saying(text: string): (socket: Socket) => void {
  return (socket) => {
    mute(socket);
    socket.once("data", () => socket.write(text));
  };
}

type Answering = (incoming: IncomingMessage, body: string, outgoing: ServerResponse) => boolean;

/** Allows everything, but for requests that `first` answers. */
export function allowing(first: Answering = () => false) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      seen.push(`${incoming.method} ${incoming.url} ${body === "" ? "without" : "with"} a body`);
      if (first(incoming, body, outgoing)) return;
      const { kind, apiVersion, request } = JSON.parse(body || "{}") as {
        kind?: string;
        apiVersion?: string;
        request?: { uid: string };
      };
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ kind, apiVersion, response: { uid: request?.uid, allowed: true } }));
    });
  };
}

/** A webhook that listens once it is asked to. */
export const withTls = (options: ServerOptions, first?: Answering) => () =>
  listen(createServer({ cert: serving.certificate, key: serving.key, ...options }, allowing(first)));
export const withCertificate = ({ certificate, key }: { certificate: string; key: string }) =>
  withTls({ cert: certificate, key });

/** Sends `/hook` elsewhere. */
export const redirecting = (status: number, location: string | undefined) =>
  withTls({}, (incoming, _body, outgoing) => {
    if (!incoming.url?.startsWith("/hook")) return false;
    outgoing.writeHead(status, location === undefined ? {} : { location });
    outgoing.end();
    return true;
  });
