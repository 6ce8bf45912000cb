import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Agent, createServer, request as send } from "node:https";
import type { Socket } from "node:net";
import type { KeyPair } from "@windlass/certificates";
import { findAccess } from "@windlass/client";

/** A request as it came by. */
export interface Passed {
  /** Monotonic milliseconds, the same clock for all proxies of a process. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
  readonly isLease: boolean;
}

/** An answer in the place of the server's. */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Stands between one operator and the API server, and can be bad at it. It ends TLS, so that it
 * sees requests and can answer them itself, and speaks to the server as the administrator.
 */
export class ChaosProxy implements AsyncDisposable {
  /** Everything that came by, in order. */
  readonly passed: Passed[] = [];
  /** How often the server said 410, as an answer or within a watch. */
  expirations = 0;
  /** Asked before each request is passed on. */
  fault: (request: Passed) => Fault | undefined = () => undefined;
  readonly #server: Server;
  readonly #upstream: { readonly server: URL; readonly agent: Agent };
  readonly #sockets = new Set<Socket>();
  /**
   * Connections on which nothing moves any more, in either direction, though neither side closed
   * them.
   */
  readonly #mute = new WeakSet<Socket>();
  #isUnplugged = false;

  private constructor(certificate: KeyPair, upstream: { server: URL; agent: Agent }) {
    this.#upstream = upstream;
    this.#server = createServer(
      { cert: certificate.certificate, key: certificate.key },
      (incoming, outgoing) => this.#handle(incoming, outgoing),
    );
    this.#server.on("connection", (socket: Socket) => {
      if (this.#isUnplugged) socket.destroy();
    });
    this.#server.on("secureConnection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket)).on("error", nothing);
    });
  }

  static async start(kubeconfig: string, certificate: KeyPair): Promise<ChaosProxy> {
    const { cluster, user } = await findAccess({ kubeconfig });
    const pem = (data: string | undefined) => Buffer.from(data ?? "", "base64");
    const agent = new Agent({
      keepAlive: true,
      ca: pem(cluster.certificateAuthorityData),
      cert: pem(user.clientCertificateData),
      key: pem(user.clientKeyData),
    });
    const proxy = new ChaosProxy(certificate, { server: new URL(cluster.server), agent });
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Writes that came by, those about leases left out: who writes leads, or believes so. */
  get writes(): readonly Passed[] {
    return this.passed.filter(({ method, isLease }) => method !== "GET" && !isLease);
  }

  /** From now on nothing moves on the connections that are open. New ones work. */
  goSilent(): void {
    for (const socket of this.#sockets) {
      this.#mute.add(socket);
      socket.pause();
    }
  }

  /** Breaks all connections, and every new one, until plugged in again. */
  unplug(): void {
    this.#isUnplugged = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  plugIn(): void {
    this.#isUnplugged = false;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#upstream.agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = "GET", url: path = "/" } = incoming;
    const passed: Passed = {
      at: performance.now(),
      method,
      path,
      isWatch: /[?&]watch=true/.test(path),
      isLease: path.includes("/leases"),
    };
    this.passed.push(passed);
    const fault = this.fault(passed);
    if (fault) {
      incoming.resume();
      outgoing.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      outgoing.end(
        JSON.stringify({
          kind: "Status",
          apiVersion: "v1",
          status: "Failure",
          code: fault.status,
          message: "injected",
        }),
      );
      return;
    }
    const { server, agent } = this.#upstream;
    const { host: _, connection: __, ...headers } = incoming.headers;
    const onward = send({ agent, host: server.hostname, port: server.port, method, path, headers });
    onward.once("response", (answer) => {
      if (this.#mute.has(incoming.socket)) return;
      if (answer.statusCode === 410) this.expirations += 1;
      const isStream = answer.statusCode === 200 && passed.isWatch;
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.on("data", (chunk: Buffer) => {
        if (isStream && chunk.includes('"type":"ERROR"') && chunk.includes('"code":410'))
          this.expirations += 1;
        if (!this.#mute.has(incoming.socket)) outgoing.write(chunk);
      });
      answer.once("end", () => {
        if (!this.#mute.has(incoming.socket)) outgoing.end();
      });
      // What broke on the far side breaks on the near side, without a proper end.
      answer.once("error", () => this.#break(incoming.socket));
    });
    onward.once("error", () => this.#break(incoming.socket));
    outgoing.once("close", () => onward.destroy());
    incoming.pipe(onward);
  }

  #break(socket: Socket): void {
    if (!this.#mute.has(socket)) socket.destroy();
  }
}

const nothing = () => undefined;
