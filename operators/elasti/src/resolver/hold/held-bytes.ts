/**
 * What a client that waits may have sent, and Node has read, without this process asking for more:
 * the charge for a client that was paused because it sent more than is read ahead. Measured as the
 * growth of memory per client.
 */
export const PAUSED_CLIENT_BYTES = 192 * 1024;

/** A request's share of {@link HeldBytes}: the service that it is for. */
export type BytesHolder = object;

/**
 * Bounds the memory of heads and bodies that wait, of all requests and protocols together. What a
 * request costs beside them does not depend on the client, and is bounded by their number.
 *
 * One service has at most half of it, so that a service that cannot start leaves room for others.
 */
export class HeldBytes {
  readonly #most: number;
  readonly #byHolder = new Map<BytesHolder, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many bytes are charged. */
  get total(): number {
    return this.#total;
  }

  /**
   * Changes what one request is charged.
   *
   * @returns whether there was room. Without room nothing changes; less is always granted.
   */
  change(holder: BytesHolder, from: number, to: number): boolean {
    const held = (this.#byHolder.get(holder) ?? 0) - from + to;
    const total = this.#total - from + to;
    if (to > from && (total > this.#most || held > this.#most / 2)) return false;
    this.#total = total;
    if (held > 0) this.#byHolder.set(holder, held);
    else this.#byHolder.delete(holder);
    return true;
  }
}
