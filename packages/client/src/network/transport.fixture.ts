import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { readAll, startServer } from "../test-server.fixture.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { networkTransport } from "./transport.ts";

/** A request to read. */
export const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "GET",
  path,
  headers: {},
  ...more,
});

/** The body of an answer. */
export async function text(transport: Transport, request: TransportRequest): Promise<string> {
  const response = await transport.request(request);
  return (await readAll(response.body)).toString("utf8");
}

/**
 * A stream that never ends by itself, and a promise that resolves when its connection is closed.
 */
export async function endlessServer() {
  const gone = Promise.withResolvers<void>();
  const server = await startServer((_, response) => {
    response.once("close", () => gone.resolve());
    response.writeHead(200);
    response.write("{}\n");
  });
  return { server, gone: gone.promise };
}

/** A server of raw bytes: what to do with each connection is up to the test. */
export async function startRaw(onConnection: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    transport: networkTransport({ server: `http://127.0.0.1:${port}` }),
    async [Symbol.asyncDispose]() {
      server.close();
      await this.transport.close();
    },
  };
}
