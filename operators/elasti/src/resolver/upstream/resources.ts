import type { Clock } from "@windlass/clock";
import { Http2Upstream } from "../http2/upstream.ts";
import type { Endpoint } from "../targets.ts";
import { UpstreamPool } from "./pool.ts";

/** What is kept for an endpoint: its connections. */
export class EndpointResources {
  readonly endpoint: Endpoint;
  readonly http1: UpstreamPool;
  readonly http2: Http2Upstream;

  /**
   * @param counted hears of each connection that comes, and goes.
   * @param readBuffer what connections read into, one after the other.
   */
  constructor(endpoint: Endpoint, clock: Clock, counted: (change: 1 | -1) => void, readBuffer: Buffer) {
    this.endpoint = endpoint;
    this.http1 = new UpstreamPool(endpoint, clock, counted, readBuffer);
    this.http2 = new Http2Upstream(endpoint, clock, counted);
  }

  /** Closes what is idle, and what is busy when it has ended. */
  retire(): void {
    this.http1.retire();
    this.http2.retire();
  }
}
