import { step, type Told } from "../logging/reminder.ts";
import type { Logger } from "../reconcile/log.ts";
import type { Doing } from "../reconcile/run.ts";
import { type FenceClock, threadClock } from "./fence.ts";

const BEAT_MS = 1_000;

/** A pause of the event loop that is worth a line: probes and leases begin to notice. */
const STALL_MS = 5_000;

/** What took at least this long may have been what kept the event loop. */
const LONG_MS = 1_000;

const TEXT_AT = 16;
const MEMORY_BYTES = 512;

/**
 * The pulse of the main thread, and what it was last seen doing, in memory that another thread can read: a thread that stands still cannot
 * say so itself.
 */
export class Pulse {
  /** Hand this to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: BigInt64Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(MEMORY_BYTES)) {
    this.memory = memory;
    this.#slots = new BigInt64Array(memory, 0, 2);
    this.#text = Buffer.from(memory, TEXT_AT);
  }

  beat(now: number): void {
    Atomics.store(this.#slots, 0, BigInt(Math.round(now * 1000)));
  }

  /** When it last beat, in milliseconds of the threads' clock; 0 if never. */
  get lastMs(): number {
    return Number(Atomics.load(this.#slots, 0)) / 1000;
  }

  /** For how long it has been missing. 0 if it never beat: then nobody keeps it. */
  missingMs(now: number): number {
    const { lastMs } = this;
    return lastMs === 0 ? 0 : Math.max(0, now - lastMs - BEAT_MS);
  }

  set doing(what: string) {
    Atomics.store(this.#slots, 1, BigInt(this.#text.write(what)));
  }

  get doing(): string {
    return this.#text.toString("utf8", 0, Number(Atomics.load(this.#slots, 1)));
  }
}

/**
 * Notices, after the fact, that the event loop stood still, and says over what: a reconcile that computes for seconds holds up probes, watches and
 * all other reconciles, and nothing else would tell.
 */
export class StallWatch implements Doing {
  readonly pulse = new Pulse();
  readonly #log: Logger;
  readonly #clock: Pick<FenceClock, "monotonic">;
  readonly #cpuMs: () => number;
  readonly #active = new Set<{ readonly what: string }>();
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
    const entry = { what };
    const startedMs = this.#clock.monotonic();
    this.#active.add(entry);
    this.pulse.doing = what;
    return () => {
      this.#active.delete(entry);
      const ms = this.#clock.monotonic() - startedMs;
      if (ms >= LONG_MS && ms > (this.#longest?.ms ?? 0)) this.#longest = { what, ms };
      this.pulse.doing = [...this.#active].at(-1)?.what ?? "";
    };
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
      ...new Set([
        ...(this.#longest ? [this.#longest.what] : []),
        ...[...this.#active].map(({ what }) => what),
      ]),
    ].slice(0, 3);
    this.#log.warn(
      { seconds, ...(suspects.length > 0 ? { during: suspects } : {}) },
      stallLine(seconds, suspects),
    );
  }
}

function stallLine(seconds: number, suspects: readonly string[]): string {
  const over = suspects.length > 0 ? `, while ${suspects.join(" or ")} was reconciled` : "";
  return `the event loop stood still for ${seconds} s${over}: probes, watches and all else had to wait. Move long computations to a worker thread, or split them with await`;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Watches the pulse of the main thread from another one, for the stall that never ends. @returns a function to be called every second, which
 * gives the line to write, if there is one.
 */
export function pulseReader(
  pulse: Pulse,
  clock: Pick<FenceClock, "monotonic"> = threadClock,
): () => string | undefined {
  let told: Told | undefined;
  return () => {
    const now = clock.monotonic();
    const stoodMs = pulse.missingMs(now);
    if (stoodMs < 2 * STALL_MS) {
      told = undefined;
      return undefined;
    }
    const next = step(told, now);
    told = next.told;
    if (next.telling.as === "known") return undefined;
    const { doing } = pulse;
    const seconds = Math.round(stoodMs / 1000);
    const msg = `the event loop has stood still for ${seconds} s${doing === "" ? "" : `, since ${doing} was begun`}: nothing is reconciled and no probe answered until it goes on. Look for a loop that does not end, or restart the process`;
    return JSON.stringify({ level: "error", time: new Date().toISOString(), seconds, msg });
  };
}
