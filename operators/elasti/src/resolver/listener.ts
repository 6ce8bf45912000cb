import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  type ClientConnection,
  type ClientTimeouts,
  type ConnectionHost,
  probe,
  QUIET_MS,
} from "./connection-host.ts";
import { Http1Connection } from "./http1/connection.ts";
import { Http2Connection } from "./http2/connection.ts";
import type { ServicePort } from "./service.ts";
import { type Spoken, spokenIn } from "./sniff.ts";
import type { PortProtocol } from "./targets.ts";
import { TcpConnection } from "./tcp/connection.ts";
import { serverName } from "./tls/client-hello.ts";

/** What a listener leads to. */
export interface ListenerRoute {
  /** What is spoken on it. It may change. */
  protocolOf(): PortProtocol;
  /**
   * The port that a connection is for which is not HTTP.
   *
   * @param name what TLS names as the server, if it was looked for.
   */
  portOf(name: string | undefined): ServicePort | undefined;
  /** Whether TLS has to say which server is meant. */
  readonly isByName: boolean;
}

/** What a listener reports its connections to. */
export interface ListenerHost extends ConnectionHost {
  opened(connection: ClientConnection): void;
  /** A client has connected. */
  accepted(): void;
}

/** Where a listener takes connections. */
export interface ListenAddress {
  readonly port: number;
  readonly host: string | undefined;
  /** Whether other processes listen there too. @default false */
  readonly isShared?: boolean | undefined;
}

/** A client that sends nothing for this long waits for its server to speak first. */
const SILENCE_MS = 1_000;
/** Connections that wait to be accepted. A burst fills the usual 511. */
const BACKLOG = 4_096;

/** A port of the resolver. It finds out what each client speaks, and hands its connection on. */
export class Listener {
  readonly #server: Server;
  readonly #host: ListenerHost;
  readonly #route: ListenerRoute;

  constructor(route: ListenerRoute, host: ListenerHost) {
    this.#route = route;
    this.#host = host;
    // Options of sockets are system calls, and most connections carry one request: they are set on
    // those that last.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** @throws Error if the port cannot be had. @returns the port that it listens on. */
  async listen({ port, host, isShared = false }: ListenAddress): Promise<number> {
    this.#server.listen({ port, host, reusePort: isShared, backlog: BACKLOG });
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Takes no more connections. Those that it has go on. */
  close(): void {
    this.#server.close();
  }

  #accept(socket: Socket): void {
    this.#host.accepted();
    const arrival = new Arrival(socket, this.#route, this.#host);
    this.#host.opened(arrival);
    arrival.start();
  }
}

/** A connection of which it is not known yet what is spoken on it. */
class Arrival implements ClientConnection {
  readonly #socket: Socket;
  readonly #route: ListenerRoute;
  readonly #host: ListenerHost;
  readonly #since: number;
  readonly #protocol: PortProtocol;
  #first: Buffer | undefined;
  #isProbed = false;
  /** All that comes is read. */
  readonly inDoubt = undefined;
  #cancelSilence: (() => void) | undefined;

  constructor(socket: Socket, route: ListenerRoute, host: ListenerHost) {
    this.#socket = socket;
    this.#route = route;
    this.#host = host;
    this.#since = host.clock.monotonic();
    this.#protocol = route.protocolOf();
  }

  start(): void {
    if (this.#protocol === "tcp") {
      this.#begin("tcp");
      return;
    }
    this.#socket.on("data", this.#onData);
    this.#socket.on("end", this.#onEnd);
    this.#socket.on("error", this.#onError);
    this.#socket.on("close", this.#onClose);
    if (this.#protocol === "auto" && !this.#route.isByName)
      this.#cancelSilence = this.#host.clock.schedule(SILENCE_MS, () => this.#begin("tcp"));
  }

  /**
   * Where silence is no sign of another protocol, it has a limit; and so has a beginning of which
   * no more comes.
   */
  enforce({ headMs, idleMs }: ClientTimeouts): void {
    if (!this.#isProbed) this.#isProbed = probe(this.#socket);
    const waitedMs = this.#host.clock.monotonic() - this.#since;
    if (waitedMs >= (this.#first ? headMs : idleMs)) this.destroy();
  }

  seen(): void {
    // It is never in doubt.
  }

  /** One that has just connected is about to say something. */
  leave(): void {
    const silentMs = this.#host.clock.monotonic() - this.#since;
    if (!this.#first && silentMs >= QUIET_MS) this.destroy();
  }

  handBack(): void {
    // The outcome is reported later.
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#first = this.#first ? Buffer.concat([this.#first, bytes]) : bytes;
    const spoken = spokenIn(this.#first, this.#protocol);
    if (spoken !== "unknown") this.#begin(spoken);
  };

  readonly #onEnd = (): void => {
    // What was sent is too little for any protocol that is known here.
    if (this.#first) this.#begin("tcp");
    else this.destroy();
  };

  readonly #onError = (): void => this.destroy();

  readonly #onClose = (): void => {
    this.#cancelSilence?.();
    this.#host.closed(this);
  };

  #begin(spoken: Exclude<Spoken, "unknown">): void {
    const name = spoken === "tls" && this.#route.isByName ? this.#nameInHello() : undefined;
    if (name === "incomplete") return;
    const socket = this.#socket;
    this.#cancelSilence?.();
    socket.off("data", this.#onData).off("end", this.#onEnd);
    socket.off("error", this.#onError).off("close", this.#onClose);
    this.#host.closed(this);
    const first = this.#first;
    switch (spoken) {
      case "http1": {
        const connection = new Http1Connection(socket, this.#host);
        this.#host.opened(connection);
        if (first) connection.receive(first);
        break;
      }
      case "http2":
        probe(socket.setNoDelay(true));
        this.#host.opened(new Http2Connection(socket, first ?? Buffer.alloc(0), this.#host));
        break;
      case "tls":
      case "tcp": {
        const port = this.#route.portOf(name);
        if (!port) {
          socket.resetAndDestroy();
          return;
        }
        probe(socket.setNoDelay(true));
        const connection = new TcpConnection(socket, first, port, this.#host);
        this.#host.opened(connection);
        connection.start();
      }
    }
  }

  #nameInHello(): string | undefined {
    const found = serverName(this.#first ?? Buffer.alloc(0));
    return found.is === "named" ? found.name : found.is === "incomplete" ? "incomplete" : undefined;
  }
}
