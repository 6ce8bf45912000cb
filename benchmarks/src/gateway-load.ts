/**
 * What the gateway benchmark sends through gateways: a client of a small protocol, and the worker
 * that answers it, in a thread of its own.
 *
 * A client begins with nine bytes: what it wants, and how many bytes of it. `send`: it sends those,
 * and gets one byte when all have arrived. `receive`: it gets those. `echo`: it gets back what it
 * sends.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type SecureContext, type TLSSocket } from "node:tls";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** TLS of one side: what it shows, and whom it trusts. */
export interface Side {
  readonly certificate: string;
  readonly key: string;
  readonly trust: string;
}

const wants = ["send", "receive", "echo"] as const;
type Want = (typeof wants)[number];
const chunk = Buffer.alloc(65_536, 1);
// As Go's TLS chooses them, which real workers and clients use.
const ciphers = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384";

if (!isMainThread && parentPort) parentPort.postMessage(await serve(workerData as Side));

/** Starts a worker in a thread of its own. */
export async function startWorker(side: Side): Promise<{ readonly port: number; stop(): Promise<unknown> }> {
  const thread = new Worker(new URL(import.meta.url), { workerData: side });
  const [port] = (await once(thread, "message")) as [number];
  return { port, stop: () => thread.terminate() };
}

async function serve({ certificate, key, trust }: Side): Promise<number> {
  const options = { cert: certificate, key, ca: trust, requestCert: true, ALPNProtocols: ["h2"], ciphers };
  const server = createServer(options, (socket) => {
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.once("data", (head: Buffer) => answer(socket, head));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function answer(socket: TLSSocket, head: Buffer): void {
  const want = wants[head.readUInt8(0)];
  const bytes = Number(head.readBigUInt64BE(1));
  if (want === "receive") {
    void pump(socket, bytes).then(() => socket.end());
    return;
  }
  const rest = head.subarray(9);
  if (want === "echo") {
    if (rest.length > 0) socket.write(rest);
    socket.on("data", (data: Buffer) => socket.write(data));
    return;
  }
  let received = rest.length;
  socket.on("data", (data: Buffer) => {
    received += data.length;
    if (received === bytes) socket.end("1");
  });
}

/**
 * Writes so many bytes, no faster than they are taken. Does not wait for the last: a reader that
 * has them all may end at once.
 */
async function pump(socket: TLSSocket, bytes: number): Promise<void> {
  for (let left = bytes, isFull = false; left > 0; left -= chunk.length) {
    if (isFull) await once(socket, "drain");
    isFull = !socket.write(left < chunk.length ? chunk.subarray(0, left) : chunk);
  }
}

/** A client of one gateway. */
export class LoadClient {
  readonly #port: number;
  readonly #servername: string;
  readonly #context: SecureContext;

  constructor(port: number, servername: string, context: SecureContext) {
    this.#port = port;
    this.#servername = servername;
    this.#context = context;
  }

  async open(want: Want, bytes: number): Promise<TLSSocket> {
    const socket = connect({
      host: "127.0.0.1",
      port: this.#port,
      servername: this.#servername,
      secureContext: this.#context,
      ALPNProtocols: ["h2"],
    });
    socket.setNoDelay(true);
    await once(socket, "secureConnect");
    const head = Buffer.alloc(9);
    head.writeUInt8(wants.indexOf(want), 0);
    head.writeBigUInt64BE(BigInt(bytes), 1);
    socket.write(head);
    return socket;
  }

  /** Sends bytes through the gateway, or receives them. */
  async transfer(want: "send" | "receive", bytes: number): Promise<void> {
    const socket = await this.open(want, bytes);
    let received = 0;
    socket.on("data", (data: Buffer) => {
      received += data.length;
    });
    const ended = once(socket, "end");
    if (want === "send") await pump(socket, bytes);
    await ended;
    socket.destroy();
    const expected = want === "send" ? 1 : bytes;
    if (received !== expected) throw new Error(`${received} bytes arrived where ${expected} were expected`);
  }

  /** Opens a connection, has one message echoed, and leaves it open. */
  async idle(): Promise<TLSSocket> {
    const socket = await this.open("echo", 0);
    await echoed(socket);
    return socket;
  }

  /** A connection from its handshake to its end, with one message echoed. */
  async visit(): Promise<void> {
    const socket = await this.idle();
    socket.end();
    socket.resume();
    await once(socket, "close");
  }
}

/** Has one small message echoed on a connection. */
export async function echoed(socket: TLSSocket): Promise<void> {
  socket.write("0123456789abcdef");
  await once(socket, "data");
}
