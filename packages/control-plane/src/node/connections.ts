import type { Clock } from "@windlass/clock";
import { Subscribers } from "../subscribers.ts";

/** Which nodes are disconnected. */
export class Connections {
  /** Since when, by the control plane's clock. */
  readonly #lost = new Map<string, number>();
  /** Notified with the name of a node that was lost, or came back. */
  readonly changes = new Subscribers<string>();
  readonly #clock: Pick<Clock, "now">;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Disconnects a node. The returned function reconnects it. */
  lose(node: string): () => void {
    this.#lost.set(node, this.#clock.now());
    this.changes.notify(node);
    return () => {
      this.#lost.delete(node);
      this.changes.notify(node);
    };
  }

  isLost(node: string): boolean {
    return this.#lost.has(node);
  }

  /** Milliseconds since the epoch; undefined for a connected node. */
  lostSince(node: string): number | undefined {
    return this.#lost.get(node);
  }
}
