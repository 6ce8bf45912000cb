import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, type TlsOptions } from "node:tls";

/** A proxy that opens tunnels to wherever it is asked to. */
export interface Tunnels extends AsyncDisposable {
  readonly port: number;
}

/** @param tls what a proxy is served with that is itself reached by TLS */
export async function startTunnels(tls?: TlsOptions): Promise<Tunnels> {
  const sockets = new Set<Socket>();
  const server = tls ? https.createServer(tls) : http.createServer();
  server.on("connection", (socket) => sockets.add(socket));
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("connect", (request, socket: Socket) => {
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    // A reset is passed on as one.
    socket.on("error", () => upstream.resetAndDestroy());
    upstream.on("error", () => socket.destroy());
    // Node does not end one side of a tunnel with the other.
    socket.once("close", () => upstream.destroy());
    upstream.once("close", () => socket.destroy());
    sockets.add(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Has this process trust one authority in place of those of the internet.
 *
 * @returns the way back
 */
export function trusting(authority: string): () => void {
  const before = getCACertificates("default");
  setDefaultCACertificates([authority]);
  return () => setDefaultCACertificates(before);
}
