import { Channel, type ChannelEvents, type ChannelOwner, type Dial } from "./channel.ts";

/**
 * Shorter than the idle timeouts of API servers (90 s) and of the load balancers before them (60 s
 * at the least), so that it is this side which closes an idle connection, and no write is sent into
 * one that is about to close.
 */
const IDLE_CONNECTION_MS = 45_000;
const SWEEP_MS = 10_000;
const MOST_IDLE = 64;

/**
 * Connections to one server with one set of credentials. There is no limit to how many are busy at
 * once: each watch holds one.
 */
export class Pool implements ChannelEvents {
  readonly #dial: Dial;
  /** The one that was used last is used next, so that those not needed grow old. */
  readonly #idle: { readonly channel: Channel; readonly since: number }[] = [];
  #isRetired = false;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  /** A connection for a request, which owns it from now on: an idle one, or a new one. */
  take(owner: ChannelOwner): Channel {
    const channel = this.#takeIdle() ?? new Channel(this.#dial, this);
    channel.take(owner);
    return channel;
  }

  /** Closes idle connections now, busy ones as they become idle. */
  retire(): void {
    this.#isRetired = true;
    clearInterval(this.#sweeping);
    for (const { channel } of this.#idle.splice(0)) channel.close();
  }

  onIdle(channel: Channel): void {
    if (this.#isRetired || this.#idle.length >= MOST_IDLE) {
      channel.close();
      return;
    }
    this.#idle.push({ channel, since: performance.now() });
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  onGone(channel: Channel): void {
    const at = this.#idle.findIndex((idle) => idle.channel === channel);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #takeIdle(): Channel | undefined {
    const idle = this.#idle.pop();
    if (!idle || performance.now() - idle.since < IDLE_CONNECTION_MS) return idle?.channel;
    // Those below it are older still.
    idle.channel.close();
    for (const { channel } of this.#idle.splice(0)) channel.close();
    return undefined;
  }

  #sweep(): void {
    const now = performance.now();
    while (this.#idle[0] && now - this.#idle[0].since >= IDLE_CONNECTION_MS)
      this.#idle.shift()?.channel.close();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}
