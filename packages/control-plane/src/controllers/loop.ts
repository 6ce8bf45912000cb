import type { Authority } from "@windlass/certificates";
import type { Authorizer } from "../auth/rbac.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Registry } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import type { LogRecord } from "../storage/store.ts";

/** What every built-in controller is given. */
export interface ControllerDependencies {
  readonly registry: Registry;
  /** Called with unexpected errors. */
  readonly onPanic: (error: unknown, where: string) => void;
  /** The certificate, in PEM, by which pods know the API server. @default "" */
  readonly authority?: () => string;
  /** Signs certificate requests. @default none are signed */
  readonly signer?: () => Authority;
  /** Authorizes. @default everything is denied */
  readonly authorizer?: Authorizer;
  /** Issues tokens for service accounts. @default none are issued */
  readonly tokens?: Tokens;
}

/** A running controller. */
export interface Running {
  stop(): void;
  /** Whether it has no work but timers. */
  readonly idle: boolean;
}

/** When to look at a key again though nothing has changed. */
export interface Again {
  readonly requeueAfterMs?: number;
}

export interface LoopOptions {
  readonly name: string;
  /** Which keys a change of a bucket concerns. */
  readonly watches?: { readonly [bucket: string]: (record: LogRecord) => Iterable<string> };
  /** As `watches`, for the changes of every bucket. */
  readonly watchAll?: (record: LogRecord) => Iterable<string>;
  /**
   * Brings one key's state closer to what it should be. May run again at any time, for no reason.
   */
  readonly reconcile: (key: string) => Promise<Again | undefined>;
}

/** A loop to which keys can be added. */
export interface Loop extends Running {
  readonly add: (key: string) => void;
}

const firstRetryMs = 5;
const lastRetryMs = 60_000;
/** The event loop gets a turn after this many keys. */
const batch = 8;

/**
 * Runs a reconciler for each key that a change concerns: one at a time, none lost, in the order
 * they came. Work happens in turns of the event loop of its own, never within the write that caused
 * it.
 */
export function startLoop(deps: ControllerDependencies, options: LoopOptions): Loop {
  const { store, clock, metrics } = deps.registry;
  const measured = metrics.queue(options.name);
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  let stopped = false;
  let running = false;
  let scheduled = false;

  const add = (key: string) => {
    if (stopped) return;
    if (!waiting.has(key)) measured.added(key);
    waiting.add(key);
    if (running || scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void drain();
    });
  };
  const addAfter = (key: string, delayMs: number) => {
    const at = clock.monotonic() + delayMs;
    timers.get(key)?.cancel();
    const cancel = clock.schedule(delayMs, () => {
      timers.delete(key);
      add(key);
    });
    timers.set(key, { at, cancel });
  };
  const forgetTimer = (key: string) => {
    timers.get(key)?.cancel();
    timers.delete(key);
  };

  async function drain(): Promise<void> {
    running = true;
    let done = 0;
    for (const key of waiting) {
      if (stopped) break;
      waiting.delete(key);
      measured.started(key);
      await work(key);
      measured.ended();
      if (++done % batch === 0) await turn();
    }
    running = false;
  }

  async function work(key: string): Promise<void> {
    try {
      const { requeueAfterMs } = (await options.reconcile(key)) ?? {};
      // A timer without a time would run at once, and again.
      if (Number.isNaN(requeueAfterMs)) throw new RangeError("requeueAfterMs is not a number");
      failures.delete(key);
      if (stopped) return;
      if (requeueAfterMs === undefined) forgetTimer(key);
      else addAfter(key, requeueAfterMs);
    } catch (error) {
      if (stopped) return;
      // The object changed meanwhile: try again. Anything else is a defect, and reported.
      if (!(error instanceof StatusError)) deps.onPanic(error, `${options.name} ${key}`);
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      measured.retried();
      addAfter(key, Math.min(firstRetryMs * 2 ** (count - 1), lastRetryMs));
    }
  }

  const { watchAll } = options;
  const tell = (keysOf: (record: LogRecord) => Iterable<string>) => (record: LogRecord) => {
    for (const key of keysOf(record)) add(key);
  };
  const replay = (bucket: string, told: (record: LogRecord) => void) => {
    for (const entry of store.list(bucket).entries) {
      const { revision, key } = entry;
      told({ revision, bucket, key, type: "ADDED", entry, previous: undefined });
    }
  };
  const stops = Object.entries(options.watches ?? {}).map(([bucket, keysOf]) => {
    replay(bucket, tell(keysOf));
    return store.subscribe(bucket, tell(keysOf));
  });
  if (watchAll) {
    for (const bucket of store.buckets()) replay(bucket, tell(watchAll));
    stops.push(store.subscribeAll(tell(watchAll)));
  }
  return {
    add,
    stop: () => {
      stopped = true;
      waiting.clear();
      measured.clear();
      for (const stop of stops) stop();
      for (const { cancel } of timers.values()) cancel();
      timers.clear();
    },
    get idle() {
      return !running && !scheduled && waiting.size === 0;
    },
  };
}

/** Yields to the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Iterates a long list, yielding to the event loop in between. */
export async function* unhurried<T>(items: Iterable<T>): AsyncGenerator<T> {
  let done = 0;
  for (const item of items) {
    yield item;
    if (++done % batch === 0) await turn();
  }
}

/** Several as one. */
export function together(running: readonly Running[]): Running {
  return {
    stop: () => {
      for (const one of running) one.stop();
    },
    get idle() {
      return running.every(({ idle }) => idle);
    },
  };
}

/**
 * Resolves once nothing is left to do but to wait for time to pass or for a change from outside. A
 * real cluster has no such moment: tests that should run there too wait for what they want to see
 * instead.
 */
export async function settled(running: readonly Running[]): Promise<void> {
  // One idle turn may still have queued work: wait for two in a row.
  for (let quiet = 0; quiet < 2; ) {
    await turn();
    quiet = running.every(({ idle }) => idle) ? quiet + 1 : 0;
  }
}

/** The keys of a kind's own objects. */
export function ownKey(record: LogRecord): string[] {
  return [record.key];
}
