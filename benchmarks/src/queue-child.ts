/**
 * Measures the queue once and prints what it does. Started by queue.ts, in a process of its own.
 */
import { seededRandom, systemClock } from "@windlass/clock";
import { createQueue, type NamespacedKey } from "../../packages/runtime/src/queue/index.ts";

/** What a queue does per second, on one core. */
export interface QueueFigures {
  readonly keys: number;
  /** Adds to an empty queue. */
  readonly addsPerSecond: number;
  /** Adds of keys that already wait. */
  readonly repeatedAddsPerSecond: number;
  /** Add, take and done of a key, with workers that wait for keys. */
  readonly cyclesPerSecond: number;
}

/** How much to do. */
export interface QueueSize {
  readonly keys: number;
  readonly cycles: number;
  readonly workers: number;
}

/**
 * Measures the queue as `cr-bench queue` measures controller-runtime's: the same keys, the same
 * four workers.
 */
async function measure({ keys, cycles, workers }: QueueSize): Promise<QueueFigures> {
  const names: NamespacedKey[] = Array.from({ length: keys }, (_, index) => ({
    namespace: "default",
    name: `object-${String(index).padStart(6, "0")}`,
  }));
  const make = () => createQueue<NamespacedKey>({ clock: systemClock, random: seededRandom(1) });
  const rounds = Math.max(1, Math.floor(cycles / keys));

  let adding = 0;
  let repeating = 0;
  for (let round = 0; round < rounds; round++) {
    const queue = make();
    adding += timed(() => {
      for (const name of names) queue.add(name);
    });
    repeating += timed(() => {
      for (const name of names) queue.add(name);
    });
  }

  const queue = make();
  let left = rounds * keys;
  const work = async () => {
    for (let lease = await queue.take(); lease; lease = await queue.take()) {
      const { key } = lease;
      lease.done();
      left -= 1;
      if (left >= keys) queue.add(key);
      else if (left === 0) await queue.drain();
    }
  };
  const start = performance.now();
  for (const name of names) queue.add(name);
  await Promise.all(Array.from({ length: workers }, work));
  const cycling = performance.now() - start;

  const perSecond = (ms: number) => Math.round((rounds * keys * 1000) / ms);
  return {
    keys,
    addsPerSecond: perSecond(adding),
    repeatedAddsPerSecond: perSecond(repeating),
    cyclesPerSecond: perSecond(cycling),
  };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

process.stdout.write(JSON.stringify(await measure(JSON.parse(process.argv[2] ?? "{}") as QueueSize)));
