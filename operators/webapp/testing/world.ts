import type { Client } from "@windlass/client";

/**
 * A cluster with the operator on it: embedded with the operator in this process, or real with the
 * operator installed.
 */
export interface World {
  /** May do everything. */
  readonly client: Client;
  /** A namespace of its own. */
  createNamespace(): Promise<string>;
  /** Ends the leading replica as `kill -9` would: it does not release its lease. */
  killLeader(): Promise<void>;
  /** Has the leading replica's pod evicted, as a drained node does. */
  drainLeader(): Promise<void>;
  close(): Promise<void>;
}

/** Images that are there in every world, and do what their name here says. */
export const images = {
  serves: "nginx:1.25",
  runs: "registry.k8s.io/pause:3.10.1",
  ends: "busybox:1.35",
  missing: "nginx:no-such-tag",
} as const;
