import { type ClientRequest, request } from "node:http";
import type { Source, SourceContext } from "@windlass/runtime";

/** How long after a link was lost the replica is tried again. */
const retryMs = 500;

/**
 * Holds a connection to each replica of the resolver. One whose connection ends is gone from that
 * moment on, while the kubelet takes a second to notice: until then half of all new connections
 * would be refused.
 */
export class ResolverLinks {
  readonly #port: number;
  readonly #links = new Map<string, { readonly asked: ClientRequest; isUp: boolean }>();
  readonly #down = new Set<string>();
  #context: SourceContext | undefined;

  /** @param port the internal port of the resolver. */
  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Starts with the controller, and asks for a look at all services when a replica comes or goes.
   */
  readonly source: Source = (context) => {
    this.#context = context;
    return () => {
      this.#context = undefined;
      for (const { asked } of this.#links.values()) asked.destroy();
      this.#links.clear();
      this.#down.clear();
    };
  };

  /** Sets which replicas there are. */
  expect(addresses: readonly string[]): void {
    for (const [address, { asked }] of this.#links)
      if (!addresses.includes(address)) {
        this.#links.delete(address);
        asked.destroy();
      }
    for (const address of this.#down) if (!addresses.includes(address)) this.#down.delete(address);
    for (const address of addresses) if (!this.#links.has(address)) this.#open(address);
  }

  /**
   * Whether a replica was there, and is not any more. One that was never reached is left to its
   * readiness probe.
   */
  isDown(address: string): boolean {
    return this.#down.has(address);
  }

  #open(address: string): void {
    const context = this.#context;
    if (!context) return;
    const asked = request({ host: address, port: this.#port, path: "/alive", agent: false }, (answer) => {
      answer.resume();
      answer.on("error", () => undefined);
      if (this.#links.get(address) !== link) return;
      link.isUp = true;
      if (this.#down.delete(address)) context.enqueueAll();
    });
    const link = { asked, isUp: false };
    this.#links.set(address, link);
    // The end of it is handled in `close`.
    asked.on("error", () => undefined);
    asked.on("close", () => {
      if (this.#links.get(address) !== link || context.signal.aborted) return;
      if (link.isUp && !this.#down.has(address)) {
        this.#down.add(address);
        context.log.warn({ resolver: address }, "a resolver has gone away: it gets no more connections");
        context.enqueueAll();
      }
      context.clock.schedule(retryMs, () => {
        if (this.#links.get(address) === link) this.#open(address);
      });
    });
    asked.end();
  }
}
