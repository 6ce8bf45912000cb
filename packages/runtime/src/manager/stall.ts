import { type LogHistory, step } from "../logging/log-throttle.ts";
import type { Logger } from "../logging/logger.ts";
import type { ReconcileObserver } from "../reconcile/run.ts";
import { type FenceClock, threadClock } from "./fence.ts";

const BEAT_MS = 1_000;

/** A pause of the event loop that is worth a line: probes and leases begin to notice. */
const STALL_MS = 5_000;

/** What took at least this long may have been what kept the event loop. */
const LONG_MS = 1_000;

// The memory of a pulse: when it last beat, how long the text is, and the text.
const LENGTH_AT = 8;
const TEXT_AT = 12;
const MEMORY_BYTES = 512;

/**
 * The pulse of the main thread, and what it was last seen doing, in memory that another thread can
 * read: a thread that stands still cannot say so itself.
 */
export class Pulse {
  /** Hand this to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #beat: BigInt64Array;
  readonly #length: Int32Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(MEMORY_BYTES)) {
    this.memory = memory;
    this.#beat = new BigInt64Array(memory, 0, 1);
    this.#length = new Int32Array(memory, LENGTH_AT, 1);
    this.#text = Buffer.from(memory, TEXT_AT);
  }

  beat(now: number): void {
    Atomics.store(this.#beat, 0, BigInt(Math.round(now * 1000)));
  }

  /** When it last beat, in milliseconds of the threads' clock; 0 if never. */
  get lastMs(): number {
    return Number(Atomics.load(this.#beat, 0)) / 1000;
  }

  /** For how long it has been missing. 0 if it never beat: then no holder renews it. */
  missingMs(now: number): number {
    const { lastMs } = this;
    return lastMs === 0 ? 0 : Math.max(0, now - lastMs - BEAT_MS);
  }

  set doing(what: string) {
    Atomics.store(this.#length, 0, what === "" ? 0 : this.#text.write(what));
  }

  get doing(): string {
    return this.#text.toString("utf8", 0, Atomics.load(this.#length, 0));
  }
}

/** Something that is being done. */
interface Activity {
  readonly what: string;
  readonly startedMs: number;
}

/**
 * Notices, after the fact, that the event loop stood still, and says over what: a reconcile that
 * computes for seconds delays probes, watches and all other reconciles, and nothing else would
 * tell.
 */
export class StallWatch implements ReconcileObserver {
  readonly pulse = new Pulse();
  readonly #log: Logger;
  readonly #clock: Pick<FenceClock, "monotonic">;
  readonly #cpuMs: () => number;
  readonly #active: Activity[] = [];
  /** What the pulse says is being done: what was begun last. */
  #shown: Activity | undefined;
  #longest: { readonly what: string; readonly ms: number } | undefined;
  #lastMs: number;
  #lastCpuMs: number;
  #isExplained = false;

  constructor(
    log: Logger,
    clock: Pick<FenceClock, "monotonic"> = threadClock,
    cpuMs: () => number = threadCpuMs,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#cpuMs = cpuMs;
    this.#lastMs = clock.monotonic();
    this.#lastCpuMs = cpuMs();
    this.pulse.beat(this.#lastMs);
  }

  /** Looks every second. @returns the way to stop. */
  start(): () => void {
    const timer = setInterval(() => this.look(), BEAT_MS).unref();
    return () => clearInterval(timer);
  }

  begin(what: string): () => void {
    const activity = { what, startedMs: this.#clock.monotonic() };
    this.#active.push(activity);
    this.#show(activity);
    return () => this.#end(activity);
  }

  explained(): void {
    this.#isExplained = true;
  }

  look(): void {
    const now = this.#clock.monotonic();
    const cpuMs = this.#cpuMs();
    const stoodMs = now - this.#lastMs - BEAT_MS;
    if (stoodMs >= STALL_MS && !this.#isExplained) this.#tell(stoodMs, cpuMs - this.#lastCpuMs);
    this.#lastMs = now;
    this.#lastCpuMs = cpuMs;
    this.#longest = undefined;
    this.#isExplained = false;
    this.pulse.beat(now);
  }

  #end(activity: Activity): void {
    const at = this.#active.indexOf(activity);
    if (at < 0) return;
    this.#active.splice(at, 1);
    const ms = this.#clock.monotonic() - activity.startedMs;
    if (ms >= LONG_MS && ms > (this.#longest?.ms ?? 0)) this.#longest = { what: activity.what, ms };
    if (activity === this.#shown) this.#show(this.#active.at(-1));
  }

  #show(activity: Activity | undefined): void {
    this.#shown = activity;
    this.pulse.doing = activity?.what ?? "";
  }

  #tell(stoodMs: number, busyMs: number): void {
    const seconds = Math.round(stoodMs / 100) / 10;
    if (busyMs < stoodMs / 2) {
      this.#log.warn(
        { seconds },
        `the process got no CPU for ${seconds} s: it was suspended, or the machine is overloaded; give it a CPU request, or a higher limit`,
      );
      return;
    }
    const suspects = [
      ...new Set([...(this.#longest ? [this.#longest.what] : []), ...this.#active.map(({ what }) => what)]),
    ].slice(0, 3);
    this.#log.warn(
      { seconds, ...(suspects.length > 0 ? { during: suspects } : {}) },
      stallLine(seconds, suspects),
    );
  }
}

function stallLine(seconds: number, suspects: readonly string[]): string {
  const over = suspects.length > 0 ? `, while ${suspects.join(" or ")} was reconciled` : "";
  return `the event loop stood still for ${seconds} s${over}: probes, watches and everything else had to wait. Move long computations to a worker thread, or split them with await`;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Watches the pulse of the main thread from another one, for the stall that never ends. @returns a
 * function to be called every second, which gives the line to write, if there is one.
 */
export function pulseReader(
  pulse: Pulse,
  clock: Pick<FenceClock, "monotonic"> = threadClock,
): () => string | undefined {
  let history: LogHistory | undefined;
  return () => {
    const now = clock.monotonic();
    const stoodMs = pulse.missingMs(now);
    if (stoodMs < 2 * STALL_MS) {
      history = undefined;
      return undefined;
    }
    const next = step(history, now);
    history = next.history;
    if (next.decision.as === "suppressed") return undefined;
    const { doing } = pulse;
    const seconds = Math.round(stoodMs / 1000);
    const msg = `the event loop has stood still for ${seconds} s${doing === "" ? "" : `, since ${doing} was begun`}: nothing is reconciled and no probe answered until it goes on. Look for a loop that does not end, or restart the process`;
    return JSON.stringify({ level: "error", time: new Date().toISOString(), seconds, msg });
  };
}
