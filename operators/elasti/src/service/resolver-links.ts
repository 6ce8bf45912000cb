import { type ClientRequest, request } from "node:http";
import type { Clock } from "@windlass/clock";
import type { Logger, Source } from "@windlass/runtime";
import { absentCodes } from "./resolver-reports.ts";

/** How long after a try to connect the next one follows. */
const retryMs = 500;

/** How a replica has changed: it went away, nothing listens there any more, or it is back. */
export type LinkChange = "down" | "gone" | "up";

/** What the links need while they are held. */
export interface LinksContext {
  readonly clock: Clock;
  readonly log: Logger;
}

/** A connection to one process of a replica, or the next try to have one. */
interface Link {
  asked: ClientRequest | undefined;
  cancelRetry: (() => void) | undefined;
  isUp: boolean;
  /** Whether the last try found that nothing listens there. */
  isRefused: boolean;
}

interface Replica {
  readonly links: ReadonlyMap<number, Link>;
  change: LinkChange | undefined;
}

/**
 * Holds a connection to each process of each replica of the resolver. A replica whose last
 * connection ends is down from that moment on, while the kubelet takes a second to notice: until
 * then its share of new connections would be refused.
 */
export class ResolverLinks {
  readonly #ports: readonly number[];
  readonly #replicas = new Map<string, Replica>();
  readonly #listeners = new Set<(address: string, change: LinkChange) => void>();
  #context: LinksContext | undefined;

  /** @param ports the internal ports of each replica, one for each of its processes. */
  constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  /** Asks for a look at all services when a replica comes or goes. */
  readonly source: Source = (context) =>
    this.onChange((_, change) => {
      if (change !== "gone") context.enqueueAll();
    });

  /** Calls back when a replica goes away, is seen to be gone, or is back. */
  onChange(listener: (address: string, change: LinkChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins to hold connections. @returns what ends that */
  start(context: LinksContext): () => void {
    this.#context = context;
    return () => {
      this.#context = undefined;
      this.expect([]);
    };
  }

  /** Sets which replicas there are. */
  expect(addresses: readonly string[]): void {
    for (const [address, { links }] of this.#replicas)
      if (!addresses.includes(address)) {
        this.#replicas.delete(address);
        for (const { asked, cancelRetry } of links.values()) {
          cancelRetry?.();
          asked?.destroy();
        }
      }
    if (!this.#context) return;
    for (const address of addresses) {
      if (this.#replicas.has(address)) continue;
      const links = new Map(this.#ports.map((port) => [port, unconnected()]));
      const replica: Replica = { links, change: undefined };
      this.#replicas.set(address, replica);
      for (const [port, link] of links) this.#connect(address, port, replica, link);
    }
  }

  /** Whether any process of a replica is connected. */
  isUp(address: string): boolean {
    return [...(this.#replicas.get(address)?.links.values() ?? [])].some(({ isUp }) => isUp);
  }

  /**
   * Whether a replica was there, and is not any more. One that was never reached is left to its
   * readiness probe.
   */
  isDown(address: string): boolean {
    const { change = "up" } = this.#replicas.get(address) ?? {};
    return change !== "up";
  }

  /** Whether nothing listens any more where a replica was: that is certain, unlike a lost link. */
  isGone(address: string): boolean {
    return this.#replicas.get(address)?.change === "gone";
  }

  #connect(address: string, port: number, replica: Replica, link: Link): void {
    const { clock } = this.#context ?? {};
    if (!clock) return;
    const isCurrent = () => this.#replicas.get(address) === replica && link.asked === asked;
    const asked = request({ host: address, port, path: "/alive", agent: false }, (answer) => {
      answer.resume();
      answer.on("error", () => undefined);
      if (!isCurrent()) return;
      link.isUp = true;
      if (replica.change !== undefined && replica.change !== "up") this.#note(address, replica, "up");
    });
    link.asked = asked;
    link.isRefused = false;
    // The end of it is handled in `close`, which follows.
    asked.on("error", ({ code }: NodeJS.ErrnoException) => {
      link.isRefused = code !== undefined && absentCodes.has(code);
    });
    asked.on("close", () => {
      if (!isCurrent()) return;
      const wasUp = link.isUp;
      link.asked = undefined;
      link.isUp = false;
      this.#look(address, replica, wasUp);
      // What it was can only be told by another try, at once.
      if (wasUp) this.#connect(address, port, replica, link);
      else
        link.cancelRetry = clock.schedule(retryMs, () => {
          if (this.#replicas.get(address) === replica) this.#connect(address, port, replica, link);
        });
    });
    asked.end();
  }

  #look(address: string, replica: Replica, hasLost: boolean): void {
    const links = [...replica.links.values()];
    if (this.isUp(address)) return;
    if (hasLost && !this.isDown(address)) {
      this.#context?.log.warn({ resolver: address }, "a resolver has gone away: it gets no more connections");
      this.#note(address, replica, "down");
    }
    const isGone = links.every(({ isRefused }) => isRefused);
    if (isGone && replica.change === "down") this.#note(address, replica, "gone");
  }

  #note(address: string, replica: Replica, change: LinkChange): void {
    replica.change = change;
    for (const listener of this.#listeners) listener(address, change);
  }
}

function unconnected(): Link {
  return { asked: undefined, cancelRetry: undefined, isUp: false, isRefused: false };
}
