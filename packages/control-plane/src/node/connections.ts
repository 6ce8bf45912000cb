import type { Clock } from "@windlass/clock";

/** Which nodes the control plane has lost sight of. */
export class Connections {
  /** Since when, by the control plane's clock. */
  readonly #lost = new Map<string, number>();
  /** Told when a node was lost, or came back. */
  changed: (node: string) => void = () => undefined;
  clock: Pick<Clock, "now"> = { now: () => 0 };

  /** From now on nothing is heard of a node. The returned function brings it back. */
  lose(node: string): () => void {
    this.#lost.set(node, this.clock.now());
    this.changed(node);
    return () => {
      this.#lost.delete(node);
      this.changed(node);
    };
  }

  isLost(node: string): boolean {
    return this.#lost.has(node);
  }

  /** Milliseconds since the epoch; undefined for a node that is heard of. */
  lostSince(node: string): number | undefined {
    return this.#lost.get(node);
  }
}
