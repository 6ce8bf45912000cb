import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Both ends of one TCP connection on this machine. */
export async function connection(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const near = connect({ host: "127.0.0.1", port: address.port });
  const [[far]] = await Promise.all([accepted, once(near, "connect")]);
  server.close();
  return [near, far];
}

/** What one outer end of a relay sent and received. */
export class Peer {
  readonly socket: Socket;
  readonly sent: Buffer[] = [];
  readonly #received: Buffer[] = [];
  hasSeenEnd = false;
  error: NodeJS.ErrnoException | undefined;
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.allowHalfOpen = true;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (chunk: Buffer) => this.#received.push(chunk));
    socket.on("end", () => {
      this.hasSeenEnd = true;
    });
    socket.on("error", (error) => {
      this.error = error;
    });
    socket.resume();
  }

  send(bytes: Buffer): void {
    this.sent.push(bytes);
    this.socket.write(bytes);
  }

  get received(): Buffer {
    return Buffer.concat(this.#received);
  }

  get sentBytes(): Buffer {
    return Buffer.concat(this.sent);
  }
}

/** Two peers with a gap between them, for a relay to fill. */
export async function gap() {
  const [[clientSocket, client], [upstream, upstreamSocket]] = await Promise.all([
    connection(),
    connection(),
  ]);
  return { clientPeer: new Peer(clientSocket), client, upstream, upstreamPeer: new Peer(upstreamSocket) };
}

/** Waits until something holds, a turn of the event loop at a time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
