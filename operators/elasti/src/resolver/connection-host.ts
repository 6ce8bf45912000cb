import type { Socket } from "node:net";
import type { Clock } from "@windlass/clock";
import type { ClientView } from "./client-views.ts";
import type { Decision } from "./decision.ts";
import type { HeldBytes } from "./hold/held-bytes.ts";
import type { Copies } from "./http1/copies.ts";
import type { MalformedMessageError } from "./http1/malformed.ts";
import type { RequestView } from "./request.ts";
import type { Service, ServicePort } from "./service.ts";

/** What a client's connection belongs to. */
export interface ConnectionHost {
  readonly clock: Clock;
  /** What requests that wait take of memory. */
  readonly heldBytes: HeldBytes;
  /** Writes what has to be copied. */
  readonly copies: Copies;
  /** Whether the resolver is about to end, and clients are asked to connect again. */
  isDraining(): boolean;
  decide(request: RequestView): Decision;
  /** A request was refused because of what it is. */
  malformed(error: MalformedMessageError): void;
  /** Joins two sockets that go on without the resolver looking. Calls back when both have ended. */
  tunnel(port: ServicePort, client: Socket, upstream: Socket, ended: () => void): void;
  closed(connection: ClientConnection): void;
}

/**
 * A client that has sent nothing for this long is not just about to. Most that keep connections use
 * them sooner, or close them; and one that has just connected may be starved of CPU.
 */
export const QUIET_MS = 10_000;

const PROBE_MS = 60_000;

/** Has the kernel find out whether a silent client is still there. @returns true */
export function probe(socket: Socket): true {
  socket.setKeepAlive(true, PROBE_MS);
  return true;
}

/** How long a client may take for things. */
export interface ClientTimeouts {
  /** For the head of a request, from its first byte. */
  readonly headMs: number;
  /** Between two requests. */
  readonly idleMs: number;
}

/**
 * How often in a row a connection must not be found before it is gone: the kernel may skip one
 * while others come and go.
 */
export const MISSES_OF_GONE = 2;

/** A client of which the kernel may know more than Node reports. */
export interface DoubtedClient {
  /**
   * Its socket, if that is so: while nothing is read from it, as there is no use yet for what has
   * come, and while it takes the last that was sent.
   */
  readonly inDoubt: Socket | undefined;
  /** What the kernel knows of a client in doubt; undefined if the connection is gone. */
  seen(view: ClientView | undefined): void;
}

/** A client's connection, of any protocol. */
export interface ClientConnection extends DoubtedClient {
  /** Ends the connection if its client takes too long. Called now and then. */
  enforce(timeouts: ClientTimeouts): void;
  /** The resolver is about to end: the connection ends as soon as its requests are answered. */
  leave(): void;
  /** New connections to a service no longer lead here: its clients should connect again. */
  handBack(service: Service): void;
  /** Ends the connection at once. */
  destroy(): void;
}
