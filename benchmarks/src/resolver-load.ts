/**
 * What the resolver benchmark sends through proxies: clients that do as little as they can, and the
 * server that answers them, in a thread of its own. Both know what the other sends, and read no
 * more of HTTP than where a message ends.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const request =
  "GET /items?page=2 HTTP/1.1\r\nHost: web.shop.svc\r\nUser-Agent: bench/1.0\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n";
const kept = Buffer.from(`${request}\r\n`);
const closing = Buffer.from(`${request}Connection: close\r\n\r\n`);
const end = "end of body\n";
const body = `${"0123456789abcde\n".repeat(31)}${end}`;
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
);

if (!isMainThread && parentPort) parentPort.postMessage(await serve());

/** Starts the server in a thread of its own. */
export async function startBackend(): Promise<{ readonly port: number; stop(): Promise<unknown> }> {
  const thread = new Worker(new URL(import.meta.url));
  const [port] = (await once(thread, "message")) as [number];
  return { port, stop: () => thread.terminate() };
}

async function serve(): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    let tail = "";
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes: Buffer) => {
      const heads = (tail + bytes.toString("latin1")).split("\r\n\r\n");
      tail = heads.pop() ?? "";
      for (let left = heads.length; left > 0; left--) socket.write(response);
    });
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A client of one proxy: one request after the other. */
export class Client {
  readonly #port: number;
  #socket: Socket | undefined;
  #answered: ((error?: Error) => void) | undefined;
  #text = "";

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request, on a connection that is kept. Resolves when it is answered. */
  get(): Promise<void> {
    return this.#ask(kept);
  }

  /** Sends a request on a connection of its own. */
  async getOnce(): Promise<void> {
    await this.#ask(closing);
    this.close();
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #ask(bytes: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#answered = (error) => (error ? reject(error) : resolve());
    this.#socket ??= this.#connect();
    this.#socket.write(bytes);
    return promise;
  }

  #connect(): Socket {
    const socket = connect({ host: "127.0.0.1", port: this.#port, noDelay: true });
    socket.on("data", (data: Buffer) => {
      this.#text += data.toString("latin1");
      if (!this.#text.endsWith(end)) return;
      const isOk = this.#text.startsWith("HTTP/1.1 200 ");
      const answer = isOk ? undefined : new Error(`answered with ${this.#text.slice(0, 100)}`);
      this.#text = "";
      this.#settle(answer);
    });
    // A socket that was closed from here is over, whatever error follows.
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#settle(error);
    });
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#settle(new Error(`closed after ${JSON.stringify(this.#text.slice(0, 100))}`));
    });
    return socket;
  }

  #settle(error: Error | undefined): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(error);
  }
}

/**
 * As many requests as so many clients can send for a while, each after the answer to its last.
 * @returns how many
 */
export async function saturate(
  clients: readonly Client[],
  forMs: number,
  how: "get" | "getOnce",
): Promise<number> {
  const until = performance.now() + forMs;
  let count = 0;
  const run = async (client: Client) => {
    while (performance.now() < until) {
      await client[how]();
      count += 1;
    }
  };
  await Promise.all(clients.map(run));
  return count;
}

/**
 * Open loop: requests at a fixed rate, however long answers take. @returns how long each took, in
 * milliseconds, in order of size
 */
export async function pace(port: number, perSecond: number, forMs: number): Promise<readonly number[]> {
  const free: Client[] = [];
  const took: number[] = [];
  const pending = new Set<Promise<void>>();
  const began = performance.now();
  const most = Math.floor((forMs / 1_000) * perSecond);
  let sent = 0;
  const send = async () => {
    const client = free.pop() ?? new Client(port);
    const sentAt = performance.now();
    await client.get();
    took.push(performance.now() - sentAt);
    free.push(client);
  };
  while (sent < most) {
    // A timer, not a loop that would take a core from what is measured: one or two requests are
    // sent at a time.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (const due = ((performance.now() - began) * perSecond) / 1_000; sent < Math.min(due, most); sent++) {
      const sending = send().finally(() => pending.delete(sending));
      pending.add(sending);
    }
  }
  await Promise.all(pending);
  for (const client of free) client.close();
  return took.toSorted((a, b) => a - b);
}
