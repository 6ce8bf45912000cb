import type { Clock } from "@windlass/clock";
import type { Endpoint } from "../targets.ts";
import { UpstreamConnection, type UpstreamEvents, type UpstreamOwner } from "./connection.ts";
import type { UpstreamOptions } from "./options.ts";

/** Shorter than the idle timeouts of common servers, of which Node's 5 s is the shortest. */
const IDLE_MS = 4_000;
const MOST_IDLE = 512;

/**
 * How long a connection may have been idle to carry a request that cannot be sent twice. The
 * endpoint may close an idle connection just as a request is sent on it.
 */
const FRESH_MS = 1_000;
/**
 * Of the time for which an endpoint keeps idle connections, how much is used: its timer may have
 * begun earlier, and a request takes a while to reach it.
 */
const SAFE_SHARE = 0.5;

/** The connections of HTTP/1 to one endpoint. */
export class UpstreamPool implements UpstreamEvents {
  readonly #endpoint: Endpoint;
  readonly #clock: Clock;
  readonly #options: UpstreamOptions;
  /** The one that was used last is used next, so that those not needed grow old. */
  readonly #idle: UpstreamConnection[] = [];
  /** Whether connections that become idle are closed. */
  #isRetired = false;
  #cancelSweep: (() => void) | undefined;
  /** The shortest time after which the endpoint closed a connection that was idle. */
  #closesAfterMs = Number.POSITIVE_INFINITY;

  constructor(endpoint: Endpoint, options: UpstreamOptions) {
    this.#endpoint = endpoint;
    this.#clock = options.clock;
    this.#options = options;
  }

  /** A connection for a request, which owns it from now on. */
  take(owner: UpstreamOwner, request: "repeatable" | "once" | "upgrade"): UpstreamConnection {
    this.#isRetired = false;
    const connection =
      request === "upgrade"
        ? this.#open("stream")
        : (this.#takeIdle(request === "once" ? FRESH_MS : IDLE_MS) ?? this.#open(this.#options.readBuffer));
    connection.take(owner);
    return connection;
  }

  /**
   * Closes what is idle, and what is busy when it has ended; until a connection is wanted again.
   */
  retire(): void {
    this.#isRetired = true;
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  idle(connection: UpstreamConnection): void {
    if (this.#isRetired || this.#idle.length >= MOST_IDLE || this.#usableMs(connection) === 0) {
      connection.close();
      return;
    }
    connection.idleSince = this.#clock.monotonic();
    this.#idle.push(connection);
    this.#cancelSweep ??= this.#clock.schedule(IDLE_MS, this.#sweep);
  }

  gone(connection: UpstreamConnection): void {
    this.#options.counted(-1);
    const at = this.#idle.indexOf(connection);
    if (at < 0) return;
    // What this side closes is taken out before.
    this.#idle.splice(at, 1);
    this.#closesAfterMs = Math.min(this.#closesAfterMs, this.#clock.monotonic() - connection.idleSince);
  }

  #open(reading: Buffer | "stream"): UpstreamConnection {
    this.#options.counted(1);
    return new UpstreamConnection(this.#endpoint, this, this.#options, reading);
  }

  #takeIdle(withinMs: number): UpstreamConnection | undefined {
    const last = this.#idle.at(-1);
    const usableMs = last ? Math.min(withinMs, this.#usableMs(last)) : 0;
    if (!last || this.#clock.monotonic() - last.idleSince > usableMs) return undefined;
    return this.#idle.pop();
  }

  /**
   * How long after it became idle a connection may be used: less than its endpoint keeps it, by
   * what it states or has shown.
   */
  #usableMs({ keepAliveMs = Number.POSITIVE_INFINITY }: UpstreamConnection): number {
    return Math.min(keepAliveMs, this.#closesAfterMs) * SAFE_SHARE;
  }

  readonly #sweep = (): void => {
    this.#cancelSweep = undefined;
    const now = this.#clock.monotonic();
    while (this.#idle[0] && now - this.#idle[0].idleSince >= IDLE_MS) this.#idle.shift()?.close();
    if (this.#idle.length > 0) this.#cancelSweep = this.#clock.schedule(IDLE_MS, this.#sweep);
  };
}
