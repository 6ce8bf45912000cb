import { Http2Upstream } from "../http2/upstream.ts";
import type { Endpoint } from "../targets.ts";
import type { UpstreamOptions } from "./options.ts";
import { UpstreamPool } from "./pool.ts";

/** What is kept for an endpoint: its connections. */
export class EndpointResources {
  readonly endpoint: Endpoint;
  readonly http1: UpstreamPool;
  readonly http2: Http2Upstream;

  constructor(endpoint: Endpoint, options: UpstreamOptions) {
    this.endpoint = endpoint;
    this.http1 = new UpstreamPool(endpoint, options);
    this.http2 = new Http2Upstream(endpoint, options);
  }

  /** Closes what is idle, and what is busy when it has ended. */
  retire(): void {
    this.http1.retire();
    this.http2.retire();
  }
}
