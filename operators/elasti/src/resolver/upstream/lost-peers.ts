import type { Socket } from "node:net";
import type { Clock } from "@windlass/clock";
import { connectionName, kernelTables, printedName } from "../kernel-table.ts";

/**
 * Which connections, by `connectionName`, sent something again and again that was not confirmed.
 */
export type Unconfirmed = () => Promise<ReadonlySet<string>>;

/** How often connections are looked at. */
const LOOK_MS = 5_000;
/** The kernel waits twice as long before each try, from 0.2 s on: so many take 13 s. */
const TRIES = 6;

/**
 * Ends connections to endpoints that are gone without a word, because their node was lost.
 *
 * Probes of the kernel find that out for a connection on which nothing is under way. They wait as
 * long as something was sent and not confirmed, and without this the kernel would try for a quarter
 * of an hour: a request that was sent on a kept connection just after its node was lost had no
 * answer for so long. How long an answer takes is no sign: a pod may take its time, or be too
 * busy to take connections. What its node has received is confirmed all the same.
 */
export class LostPeers {
  readonly #clock: Clock;
  readonly #unconfirmed: Unconfirmed;
  /** The connections, and how much had come on each when it was last looked at. */
  readonly #received = new Map<Socket, number>();
  #cancelLook: (() => void) | undefined;

  constructor(clock: Clock, unconfirmed: Unconfirmed = unconfirmedByKernel) {
    this.#clock = clock;
    this.#unconfirmed = unconfirmed;
  }

  /** Looks after a connection until it is closed. */
  watch(socket: Socket): void {
    this.#received.set(socket, -1);
    socket.once("close", () => this.#received.delete(socket));
    this.#lookLater();
  }

  /** Looks no more. */
  stop(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    this.#received.clear();
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.schedule(LOOK_MS, () => {
      this.#cancelLook = undefined;
      // What cannot be looked at now is at the next look.
      this.#look().catch(() => this.#lookLater());
    });
  }

  async #look(): Promise<void> {
    const silent: Socket[] = [];
    for (const [socket, before] of this.#received) {
      const { bytesRead } = socket;
      if (bytesRead === before) silent.push(socket);
      else this.#received.set(socket, bytesRead);
    }
    if (silent.length > 0) {
      const unconfirmed = await this.#unconfirmed();
      // Most of the time there is none, and names need not be made.
      if (unconfirmed.size > 0)
        for (const socket of silent)
          if (unconfirmed.has(connectionName(socket)))
            socket.destroy(new Error("the endpoint confirms nothing that it is sent"));
    }
    if (this.#received.size > 0) this.#lookLater();
  }
}

async function unconfirmedByKernel(): Promise<ReadonlySet<string>> {
  return new Set((await kernelTables()).flatMap(unconfirmedIn));
}

/**
 * A line whose timer (`01`) is the one for sending again: both ends, and how often that was done.
 */
const resending =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} [0-9A-F]+:[0-9A-F]+ 01:[0-9A-F]+ ([0-9A-F]+) /gm;

/** The connections of a table of /proc/net that sent something often enough. */
export function unconfirmedIn(table: string): readonly string[] {
  const found: string[] = [];
  for (const [, localPort = "", address = "", remotePort = "", tries = ""] of table.matchAll(resending))
    if (Number.parseInt(tries, 16) >= TRIES) found.push(printedName(localPort, address, remotePort));
  return found;
}
