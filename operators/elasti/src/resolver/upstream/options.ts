import type { Clock } from "@windlass/clock";
import type { LostPeers } from "./lost-peers.ts";

/** What connections to endpoints are made with. */
export interface UpstreamOptions {
  readonly clock: Clock;
  /** Called for each connection that comes, and goes. */
  readonly counted: (change: 1 | -1) => void;
  /** What connections read into, one after the other. */
  readonly readBuffer: Buffer;
  readonly lostPeers: LostPeers;
}
