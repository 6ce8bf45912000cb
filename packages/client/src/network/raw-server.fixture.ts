import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** A request as a {@link startRawServer} sees it: with its last byte there. */
export interface RawServerRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server of bytes, whose answers are whatever a test writes to the socket. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** How many connections were ever opened. */
  readonly connections: number;
  /** Those open now. */
  readonly open: ReadonlySet<Socket>;
}

/** @param onRequest called for each request of each connection, once it is complete. */
export async function startRawServer(
  onRequest: (request: RawServerRequest, socket: Socket) => void,
  tls?: TlsOptions,
): Promise<RawServer> {
  const open = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket) => {
    let received = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let parsed = parse(received); parsed; parsed = parse(received)) {
        received = received.subarray(parsed.length);
        onRequest(parsed.request, socket);
      }
    });
  };
  const server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection);
  server.on("connection", (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.on("error", () => socket.destroy());
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
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function parse(bytes: Buffer): { readonly request: RawServerRequest; readonly length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const bodyLength = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  const length = headEnd + 4 + bodyLength;
  if (bytes.length < length) return undefined;
  const [method = "", path = ""] = head.split(" ");
  const authorization = /^authorization: (.*)$/im.exec(head)?.[1];
  const body = bytes.toString("utf8", headEnd + 4, length);
  return { request: { method, path, authorization, body }, length };
}

/** Lets what is on its way through sockets arrive. */
export async function settleSockets(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
