import type { Interceptor, Transport, TransportRequest, TransportResponse } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { FencedError } from "../reconcile/errors.ts";
import type { Fence } from "./fence.ts";

/**
 * Answers after which the write may still be done: the server that gave them had stopped waiting
 * for the server, or for etcd.
 */
const inDoubt: ReadonlySet<number> = new Set([500, 502, 504]);

/**
 * The writes that go through a fence. Each passes it at the last moment: the request carries its
 * guard to where bytes are handed to the socket, through whatever waits for credentials,
 * connections and repetitions. docs/design/2026-11-16-writes-and-the-lease.md has the argument why
 * none arrives after the lease has ended for others.
 */
export class FencedWrites {
  readonly #fence: Fence;
  readonly #clock: Pick<Clock, "monotonic">;
  #underWay = 0;
  #onSettled: (() => void)[] = [];
  #lastUnansweredMs = Number.NEGATIVE_INFINITY;

  constructor(fence: Fence, clock: Pick<Clock, "monotonic">) {
    this.#fence = fence;
    this.#clock = clock;
  }

  /**
   * Refuses writes while the fence is closed, and gives up those under way when it closes. Stands
   * outermost.
   */
  readonly guard: Interceptor = (next) => ({
    request: (request) => (request.method === "GET" ? next.request(request) : this.#send(request, next)),
    close: () => next.close(),
  });

  /** Resolves once no write is under way. */
  settled(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onSettled.push(resolve));
  }

  /**
   * Whether all that was sent in this time has been answered with its outcome. What was not may
   * still be on its way, or in the server's hands.
   */
  wereAnswered(withinMs: number): boolean {
    return this.#clock.monotonic() - this.#lastUnansweredMs >= withinMs;
  }

  async #send(request: TransportRequest, next: Transport): Promise<TransportResponse> {
    const fence = this.#fence;
    const { signal, guard: own } = request;
    // What would be refused need not wait for credentials and a connection first.
    if (!fence.isOpen) throw new FencedError(describe(request));
    const { closing } = fence;
    let isSent = false;
    const guard = () => {
      if (!fence.isOpen) throw new FencedError(describe(request));
      own?.();
      isSent = true;
    };
    this.#underWay += 1;
    try {
      const response = await next.request({
        ...request,
        guard,
        signal: signal ? AbortSignal.any([signal, closing]) : closing,
      });
      if (inDoubt.has(response.status)) this.#lastUnansweredMs = this.#clock.monotonic();
      return response;
    } catch (error) {
      if (isSent) this.#lastUnansweredMs = this.#clock.monotonic();
      throw error;
    } finally {
      this.#ended();
    }
  }

  #ended(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    for (const resolve of this.#onSettled.splice(0)) resolve();
  }
}

function describe({ method, path }: TransportRequest): string {
  return `${method} ${path.split("?", 1)[0]}`;
}
