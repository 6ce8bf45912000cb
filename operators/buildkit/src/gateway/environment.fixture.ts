import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { type ConnectionOptions, connect as connectTls, type Server, type TLSSocket } from "node:tls";
import { type Authority, inspect, type KeyPair } from "@windlass/certificates";
import { type Clock, systemClock, systemRandom } from "@windlass/clock";
import { Registry } from "@windlass/runtime";
import {
  type AuthorityRing,
  addAuthority,
  allocationCertificate,
  gatewayCertificate,
  gatewayClientCertificate,
  gatewayNames,
  signingAuthority,
  trustBundle,
  workerCertificate,
  workerServerName,
} from "../certificates/index.ts";
import type { PoolName } from "../pool-name.ts";
import {
  type AllocationHash,
  addKey,
  type IssuedToken,
  issueToken,
  type Keyring,
  newAllocationId,
  poolKeyring,
} from "../tokens/index.ts";
import type { GatewayCredentials } from "./credentials.ts";
import { Gateway, type GatewayOptions } from "./gateway.ts";
import { RoutingTable, type WorkerAddress } from "./lookup.ts";

export const pool: PoolName = { namespace: "builds", name: "ci" };
const day = 24 * 3_600_000;

/** A ring of one authority, and that authority. */
export function newRing(name: string, clock: Pick<Clock, "now"> = systemClock) {
  const ring = addAuthority([], name, clock);
  return { ring, authority: signerOf(ring, clock) };
}

export function signerOf(ring: AuthorityRing, clock: Pick<Clock, "now"> = systemClock): Authority {
  const authority = signingAuthority(ring, clock);
  if (!authority) throw new Error("no authority can sign");
  return authority;
}

/** Everything that a pool proves itself with. */
export class Pki {
  readonly clients = newRing("clients");
  readonly workers = newRing("workers");
  readonly clusterKeys: Keyring = addKey([], Date.now(), systemRandom);
  readonly keys: Keyring = poolKeyring(this.clusterKeys, pool);

  credentials(change: Partial<GatewayCredentials> = {}): GatewayCredentials {
    const names = gatewayNames(pool);
    return {
      clients: {
        pair: gatewayCertificate(this.clients.authority, { pool, names, validFor: day }),
        trust: trustBundle(this.clients.ring),
      },
      workers: {
        pair: gatewayClientCertificate(this.workers.authority, { pool, validFor: day }),
        trust: trustBundle(this.workers.ring),
      },
      keys: this.keys,
      ...change,
    };
  }

  certificate(issued: Pick<IssuedToken, "token" | "expiresAt">): KeyPair {
    return allocationCertificate(this.clients.authority, { pool, issued });
  }

  token(keys: Keyring = this.keys, now = Date.now()): IssuedToken {
    return issueToken(keys, { allocationId: newAllocationId(systemRandom), now });
  }
}

/**
 * A method of the stand-in: `Info` is answered at once, `Status` gets an answer that does not end,
 * and `Solve` none at all.
 */
export type FakeMethod = "Info" | "Status" | "Solve";

/**
 * A stand-in for buildkitd: TLS with the worker's certificate, and gRPC calls that succeed if they
 * end.
 */
export class FakeWorker {
  readonly name: string;
  readonly sockets = new Set<TLSSocket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** How many calls it has received. */
  calls = 0;
  readonly #server: Http2SecureServer;
  #address: WorkerAddress | undefined;

  constructor(pki: Pki, name: string, pair?: KeyPair) {
    this.name = name;
    const worker = { namespace: pool.namespace, name };
    const { certificate, key } =
      pair ?? workerCertificate(pki.workers.authority, { worker, pool, validFor: day });
    this.#server = createSecureServer({
      cert: certificate,
      key,
      ca: trustBundle(pki.workers.ring),
      requestCert: true,
      rejectUnauthorized: true,
    });
    this.#server.on("secureConnection", (socket: TLSSocket) => {
      this.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => this.sockets.delete(socket));
    });
    this.#server.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
    });
    this.#server.on("stream", (stream, { ":path": path = "" }) => {
      this.calls += 1;
      stream.on("error", () => stream.destroy());
      if (path.endsWith("/Solve")) return;
      const session = stream.session?.socket as TLSSocket | undefined;
      const client = session?.getPeerX509Certificate();
      stream.respond(
        {
          ":status": 200,
          "content-type": "application/grpc",
          worker: name,
          client: client ? inspect(client.raw).subject.commonName : "",
        },
        { waitForTrailers: true },
      );
      if (path.endsWith("/Status")) {
        stream.write("begun");
        return;
      }
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.pipe(stream);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    const worker = { namespace: pool.namespace, name: this.name };
    this.#address = { name: this.name, host: "127.0.0.1", port, serverName: workerServerName(worker) };
    return this;
  }

  get address(): WorkerAddress {
    if (!this.#address) throw new Error("the worker has not started");
    return this.#address;
  }

  /** Says that it stops, as buildkitd does on SIGTERM. */
  announceStop(): void {
    for (const session of this.#sessions) session.goaway(0, 0, Buffer.from("graceful_stop"));
  }

  /** Ends every connection as a process that is killed does. */
  async kill(): Promise<void> {
    const closed = new Promise((resolve) => (this.#server as unknown as Server).close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** What a call was answered with. */
export interface Answer {
  readonly status: number;
  readonly message: string;
  /** The worker that answered; undefined if none did. */
  readonly worker: string | undefined;
  /** As whom the gateway came to the worker. */
  readonly gateway: string | undefined;
  readonly body: string;
}

/** A client's connection: what it shows, and what it speaks. */
export type ClientOptions = Pick<
  ConnectionOptions,
  "minVersion" | "maxVersion" | "session" | "ALPNProtocols"
>;

/** A gateway with all that is around it. */
export class TestEnvironment implements AsyncDisposable {
  readonly pki: Pki;
  readonly table = new RoutingTable();
  readonly metrics = new Registry();
  readonly workers: FakeWorker[] = [];
  readonly #sockets: TLSSocket[] = [];
  #gateway: Gateway | undefined;

  private constructor(pki: Pki) {
    this.pki = pki;
  }

  static async start(options: Partial<GatewayOptions> = {}, pki = new Pki()): Promise<TestEnvironment> {
    const environment = new TestEnvironment(pki);
    environment.table.markFilled();
    environment.#gateway = await Gateway.start({
      pool,
      lookup: environment.table,
      credentials: environment.pki.credentials(),
      port: 0,
      host: "127.0.0.1",
      metrics: environment.metrics,
      ...options,
    });
    return environment;
  }

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error("the gateway has not started");
    return this.#gateway;
  }

  async worker(name = `ci-worker-${this.workers.length + 1}`, pair?: KeyPair): Promise<FakeWorker> {
    const worker = await new FakeWorker(this.pki, name, pair).start();
    this.workers.push(worker);
    return worker;
  }

  /** A client's certificate for a token, without a route to any worker. */
  certificate(issued: Pick<IssuedToken, "token" | "expiresAt">): KeyPair {
    return this.pki.certificate(issued);
  }

  /** An allocation of a worker. */
  allocate(worker: FakeWorker): { readonly allocation: AllocationHash; readonly pair: KeyPair } {
    const issued = this.pki.token();
    this.table.set(issued.allocation, { at: "ready", worker: worker.address });
    return { allocation: issued.allocation, pair: this.certificate(issued) };
  }

  /** A TLS connection to the gateway. */
  async connect(pair: KeyPair | undefined, options: ClientOptions = {}): Promise<TLSSocket> {
    const socket = await connectTo(this.gateway.port, this.pki, pair, options);
    this.#sockets.push(socket);
    return socket;
  }

  /** An HTTP/2 connection to the gateway. */
  async open(pair: KeyPair | undefined, options: ClientOptions = {}): Promise<ClientHttp2Session> {
    return sessionOn(await this.connect(pair, options));
  }

  /** One gRPC call on a connection of its own. */
  async call(pair: KeyPair | undefined, options: ClientOptions = {}): Promise<Answer> {
    const session = await this.open(pair, options);
    try {
      return await callOn(session);
    } finally {
      session.close();
    }
  }

  /** The lines of a metric. */
  metric(name: string): readonly string[] {
    return this.metrics
      .render()
      .split("\n")
      .filter((line) => line.startsWith(name) && !line.endsWith(" 0"))
      .map((line) => line.slice(name.length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#gateway?.[Symbol.asyncDispose]();
    await Promise.all(this.workers.map((worker) => worker.kill()));
  }
}

/** A TLS connection to a gateway. */
export async function connectTo(
  port: number,
  pki: Pki,
  pair: KeyPair | undefined,
  options: ClientOptions = {},
): Promise<TLSSocket> {
  const socket = connectTls({
    host: "127.0.0.1",
    port,
    servername: `${pool.name}.${pool.namespace}.svc`,
    ca: trustBundle(pki.clients.ring),
    ALPNProtocols: ["h2"],
    ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
    ...options,
  });
  await once(socket, "secureConnect");
  return socket;
}

/** HTTP/2 on a connection. */
export function sessionOn(socket: TLSSocket): ClientHttp2Session {
  const session = connectHttp2("https://localhost", { createConnection: () => socket });
  session.on("error", () => session.destroy());
  return session;
}

/** How a call is made. */
export interface CallInit {
  /** @default "Info" */
  readonly method?: FakeMethod;
  /** Leaves the client's half of the stream open. @default false */
  readonly isOpen?: boolean;
}

/** One gRPC call. @throws Error if the connection ends without an answer. */
export function callOn(
  session: ClientHttp2Session,
  { method = "Info", isOpen = false }: CallInit = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": `/moby.buildkit.v1.Control/${method}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on("response", (found) => {
      headers = { ...found };
    });
    stream.on("trailers", (found) => {
      headers = { ...headers, ...found };
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      const text = (name: string) => headers[name]?.toString();
      const status = text("grpc-status");
      if (status === undefined) reject(new Error("the connection ended without an answer"));
      resolve({
        status: Number(status),
        message: decodeURIComponent(text("grpc-message") ?? ""),
        worker: text("worker"),
        gateway: text("client"),
        body: Buffer.concat(chunks).toString(),
      });
    });
    stream.write("ping");
    if (!isOpen) stream.end();
  });
}

/** Waits until something holds, a turn of the event loop at a time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
