import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Clock } from "@windlass/clock";
import { Registry } from "@windlass/runtime";
import { Resolver, type ResolverOptions } from "./resolver.ts";
import { TargetTable } from "./target-table.ts";
import { type Endpoint, serviceKey, type Target, type WakeDemand } from "./targets.ts";

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A pod: a server that does with each connection what the test says. */
export class Pod {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** How many connections it has had. */
  connections = 0;
  readonly #uid: string;

  private constructor(serve: (socket: Socket, connection: number) => void, uid: string) {
    this.#uid = uid;
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.sockets.delete(socket));
      serve(socket, this.connections);
    });
  }

  static async start(serve: (socket: Socket, connection: number) => void, uid = "pod-1"): Promise<Pod> {
    const pod = new Pod(serve, uid);
    pod.server.listen(0, "127.0.0.1");
    await once(pod.server, "listening");
    return pod;
  }

  get endpoint(): Endpoint {
    const { port } = this.server.address() as AddressInfo;
    return { address: "127.0.0.1", port, podUid: this.#uid };
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/**
 * Answers each request with what `answer` makes of its head and body. Knows Content-Length and
 * chunks.
 */
export function answering(
  answer: (head: string, body: string) => string | undefined,
): (socket: Socket) => void {
  return (socket) => {
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      for (;;) {
        const headEnd = received.indexOf("\r\n\r\n");
        if (headEnd < 0) return;
        const head = received.slice(0, headEnd + 4);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        const isChunked = /transfer-encoding: chunked/i.test(head);
        const rest = received.slice(headEnd + 4);
        const chunks = /^(?:.|[\r\n])*?\r?\n?0\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest);
        const bodyEnd = isChunked ? (chunks?.[0].length ?? Number.POSITIVE_INFINITY) : length;
        if (rest.length < bodyEnd) return;
        received = rest.slice(bodyEnd);
        const text = answer(head, rest.slice(0, bodyEnd));
        if (text !== undefined) socket.write(text, "latin1");
      }
    });
    socket.on("end", () => socket.end());
  };
}

/** A response with a length. */
export function response(body: string, fields = ""): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** A client that sends bytes, and sees what comes back. */
export class Client {
  readonly socket: Socket;
  received = "";
  hasEnded = false;
  isClosed = false;
  error: NodeJS.ErrnoException | undefined;

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });
    this.socket.on("data", (bytes: Buffer) => {
      this.received += bytes.toString("latin1");
    });
    this.socket.on("end", () => {
      this.hasEnded = true;
    });
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    this.socket.on("error", (error) => {
      this.error = error;
    });
  }

  send(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Sends a request, and gives what has come when `until` holds of it. */
  async get(path = "/", fields = ""): Promise<string> {
    const before = this.received.length;
    this.send(`GET ${path} HTTP/1.1\r\nHost: any.example\r\n${fields}\r\n`);
    await until(() => isWhole(this.received.slice(before)) || this.isClosed);
    return this.received.slice(before);
  }

  async gets(text: string): Promise<void> {
    await until(() => this.received.includes(text) || this.isClosed);
    if (!this.received.includes(text))
      throw new Error(`closed (${this.error?.code}) after ${JSON.stringify(this.received)}, not ${text}`);
  }
}

/** Whether a response with a length, or of chunks, has come to its end. */
export function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const head = text.slice(0, headEnd);
  if (/transfer-encoding: chunked/i.test(head)) return text.endsWith("0\r\n\r\n");
  return text.length >= headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
}

/** Waits until something holds, a turn of the event loop at a time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** A resolver with one service, `shop/web`, and its ports. */
export class TestEnvironment implements AsyncDisposable {
  readonly table = new TargetTable();
  readonly metrics = new Registry();
  /** What the operator received. */
  readonly wakes: WakeDemand[] = [];
  readonly pods: Pod[] = [];
  readonly clients: Client[] = [];
  resolver!: Resolver;
  port = 0;

  static async start(
    options: {
      readonly target?: Partial<Target>;
      readonly clock?: Clock;
      readonly limits?: ResolverOptions["limits"];
      readonly sharedPort?: number;
      readonly protocol?: "auto" | "http" | "tcp";
      readonly wake?: () => Promise<void>;
      readonly unconfirmed?: ResolverOptions["unconfirmed"];
      readonly clientViews?: ResolverOptions["clientViews"];
    } = {},
  ): Promise<TestEnvironment> {
    const environment = new TestEnvironment();
    environment.port = await freePort();
    const { protocol = "auto" } = options;
    environment.table.set({
      namespace: "shop",
      service: "web",
      ports: [{ name: "http", port: 80, listenPort: environment.port, protocol }],
      endpointsOf: "web",
      dispatch: "forward",
      ...options.target,
    });
    environment.table.markFilled();
    environment.resolver = await Resolver.start({
      targets: environment.table,
      waker: {
        wake: async (demand) => {
          environment.wakes.push(demand);
          await options.wake?.();
        },
      },
      host: "127.0.0.1",
      metrics: environment.metrics,
      ...(options.clock && { clock: options.clock }),
      ...(options.limits && { limits: options.limits }),
      ...(options.unconfirmed && { unconfirmed: options.unconfirmed }),
      ...(options.clientViews && { clientViews: options.clientViews }),
      ...(options.sharedPort !== undefined && { sharedPort: options.sharedPort }),
    });
    return environment;
  }

  get target(): Target {
    return this.table.find(serviceKey("shop", "web")) as Target;
  }

  /** Changes what the operator sets for the service. */
  set(change: Partial<Target>): void {
    this.table.set({ ...this.target, ...change });
  }

  /** Sets which pods are ready. */
  ready(...pods: readonly (Pod | Endpoint)[]): void {
    const endpoints = pods.map((pod) => (pod instanceof Pod ? pod.endpoint : pod));
    this.table.setEndpoints(serviceKey("shop", "web"), new Map([["http", endpoints]]));
  }

  async pod(serve: (socket: Socket, connection: number) => void, uid?: string): Promise<Pod> {
    const pod = await Pod.start(serve, uid);
    this.pods.push(pod);
    return pod;
  }

  client(port = this.port): Client {
    const client = new Client(port);
    this.clients.push(client);
    return client;
  }

  get traffic() {
    const [traffic] = this.resolver.traffic();
    if (!traffic) throw new Error("the service is not there");
    return traffic;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.clients) socket.destroy();
    await this.resolver[Symbol.asyncDispose]();
    for (const pod of this.pods) await pod.stop();
  }
}
