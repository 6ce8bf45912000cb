import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** A server for tests that knows how many connections were made to it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** How many connections were ever opened. */
  readonly connections: number;
  /** Those open now. */
  readonly open: ReadonlySet<Socket>;
  /** The server itself, to replace its certificates. */
  readonly server: http.Server | https.Server;
}

/** A handler that throws or rejects cuts the connection. */
export async function startServer(
  handler: (request: http.IncomingMessage, response: http.ServerResponse) => unknown,
  tls?: https.ServerOptions,
): Promise<TestServer> {
  const listener = (request: http.IncomingMessage, response: http.ServerResponse) => {
    const handled = (async () => handler(request, response))();
    handled.catch((error: Error) => response.destroy(error));
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  const open = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    open,
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

export function sendJson(response: http.ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Reads a request's body as text. */
export async function bodyOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads an answer's body to its end. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(body));
}
