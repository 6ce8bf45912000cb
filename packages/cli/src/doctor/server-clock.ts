import type { Interceptor } from "@windlass/client";
import { type Finding, warning } from "./finding.ts";

/** A difference that certificates, tokens and leases begin to notice. */
const noticedMs = 30_000;

/**
 * The time of the API server, as the heads of its answers tell it: what was written in the cluster
 * is as old as it is there. The clock of a laptop may be minutes off.
 */
export class ServerClock {
  readonly #local: () => number;
  #aheadMs: number | undefined;

  /** @param local This machine's clock, which counts until the server has answered. */
  constructor(local: () => number) {
    this.#local = local;
  }

  /** Reads the time from each answer. */
  readonly interceptor: Interceptor = (next) => ({
    close: () => next.close(),
    request: async (request) => {
      const response = await next.request(request);
      const at = Date.parse(String(response.headers.date));
      if (!Number.isNaN(at)) this.#aheadMs = at - this.#local();
      return response;
    },
  });

  /** Milliseconds since 1970. To the second: that is how exact the heads of answers are. */
  readonly now = (): number => this.#local() + (this.#aheadMs ?? 0);

  /** What to say of this machine's own clock. */
  findings(): readonly Finding[] {
    const aheadMs = this.#aheadMs ?? 0;
    if (Math.abs(aheadMs) <= noticedMs) return [];
    const words = `this machine's is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "behind" : "ahead of"} the API server's`;
    return [warning("Clock", words, "set the clock of the one that is wrong: timedatectl shows this one's")];
  }
}
