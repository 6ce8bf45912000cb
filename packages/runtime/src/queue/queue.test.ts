import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { createQueue, type Lease, type Queue, type QueueOptions } from "./queue.ts";

function setup(options: Partial<QueueOptions> = {}) {
  const clock = new ManualClock();
  const queue = createQueue<string>({ clock, random: seededRandom(1), backoff: { jitter: 0 }, ...options });
  return { clock, queue };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("expected a key to be due");
  return value;
}

function takeAll(queue: Queue<string>): string[] {
  const keys: string[] = [];
  for (let lease = queue.tryTake(); lease; lease = queue.tryTake()) {
    keys.push(lease.key);
    lease.done();
  }
  return keys;
}

test("keys come out in the order they were added, each once", () => {
  const { queue } = setup();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  expect(takeAll(queue)).toEqual(["a", "b", "c"]);
});

test("a key added while it runs is run once more, and not before it is done", () => {
  const { queue } = setup();
  queue.add("a");
  const first = must(queue.tryTake());
  queue.add("a");
  queue.add("a");
  expect(queue.tryTake()).toBeUndefined();
  first.done();
  expect(takeAll(queue)).toEqual(["a"]);
});

test("a taker that waits gets the key as soon as it is added, first come first served", async () => {
  const { queue } = setup();
  const takes = [queue.take(), queue.take()];
  queue.add("a");
  queue.add("b");
  const leases = await Promise.all(takes);
  expect(leases.map((lease) => lease?.key)).toEqual(["a", "b"]);
});

test("an aborted taker leaves, and the key goes to the next one", async () => {
  const { queue } = setup();
  const stop = new AbortController();
  const aborted = queue.take(stop.signal);
  const patient = queue.take();
  stop.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await expect(queue.take(stop.signal)).rejects.toThrow("enough");
  queue.add("a");
  expect((await patient)?.key).toBe("a");
});

test("higher priorities come first, and a re-add keeps the highest", () => {
  const { queue } = setup();
  queue.add("low", { priority: -1 });
  queue.add("raised", { priority: -1 });
  queue.add("normal");
  queue.add("raised", { priority: 5 });
  queue.add("raised", { priority: -5 });
  expect(takeAll(queue)).toEqual(["raised", "normal", "low"]);
});

test("a delayed key is due at the earliest time asked for, with the highest priority", async () => {
  const { clock, queue } = setup();
  queue.add("a", { after: 100, priority: 3 });
  queue.add("a", { after: 50 });
  queue.add("a", { after: 200 });
  expect(queue.status("a")).toEqual({ at: "delayed", failures: 0, dueInMs: 50 });
  await clock.advance(49);
  expect(queue.tryTake()).toBeUndefined();
  await clock.advance(1);
  expect(must(queue.tryTake()).priority).toBe(3);
  expect(clock.pending).toBe(0);
});

test("an add without delay brings a delayed key forward", () => {
  const { clock, queue } = setup();
  queue.add("a", { after: 1000 });
  queue.add("a");
  expect(takeAll(queue)).toEqual(["a"]);
  expect(clock.pending).toBe(0);
});

test("keys that fall due together come out in the order of their times", async () => {
  const { clock, queue } = setup();
  queue.add("c", { after: 30 });
  queue.add("a", { after: 10 });
  queue.add("b", { after: 20 });
  expect(clock.pending).toBe(1);
  await clock.advance(100);
  expect(takeAll(queue)).toEqual(["a", "b", "c"]);
});

test("failures back off exponentially up to the maximum, and success forgets them", async () => {
  const { clock, queue } = setup({ backoff: { initial: 10, factor: 2, max: 60, jitter: 0 } });
  queue.add("a");
  const waits: number[] = [];
  const attempts: number[] = [];
  for (let round = 0; round < 5; round++) {
    const lease = must(queue.tryTake());
    attempts.push(lease.attempt);
    const wait = lease.retry();
    waits.push(wait);
    expect(queue.status("a")).toEqual({ at: "delayed", failures: round + 1, dueInMs: wait });
    await clock.advance(wait);
  }
  expect(waits).toEqual([10, 20, 40, 60, 60]);
  expect(attempts).toEqual([1, 2, 3, 4, 5]);
  must(queue.tryTake()).done();
  queue.add("a");
  expect(must(queue.tryTake()).attempt).toBe(1);
});

test("an event inside a backoff window neither uses up an attempt nor moves the retry", async () => {
  const { clock, queue } = setup({ backoff: { initial: 1000, jitter: 0 } });
  queue.add("a");
  must(queue.tryTake()).retry();
  for (let event = 0; event < 5; event++) {
    await clock.advance(100);
    queue.add("a");
    const lease = must(queue.tryTake());
    expect(lease.attempt).toBe(2);
    lease.retry();
  }
  expect(queue.status("a")).toEqual({ at: "delayed", failures: 1, dueInMs: 500 });
  await clock.advance(500);
  const due = must(queue.tryTake());
  expect(due.attempt).toBe(2);
  expect(due.retry()).toBe(2000);
});

test("a key that failed while an event came for it runs at once, within the window that its failure opened", async () => {
  const { clock, queue } = setup({ backoff: { initial: 1000, jitter: 0 } });
  queue.add("a");
  const lease = must(queue.tryTake());
  queue.add("a");
  lease.retry();
  await clock.advance(10);
  expect(must(queue.tryTake()).retry()).toBe(990);
  expect(queue.status("a")?.failures).toBe(1);
});

test("an early event that succeeds takes the retry back", async () => {
  const { clock, queue } = setup({ backoff: { initial: 1000, jitter: 0 } });
  queue.add("a");
  must(queue.tryTake()).retry();
  queue.add("a");
  must(queue.tryTake()).done();
  expect(queue.status("a")).toBeUndefined();
  await clock.advance(10_000);
  expect(queue.tryTake()).toBeUndefined();
});

test("jitter only ever shortens a wait, and differs between keys", () => {
  const { queue } = setup({ backoff: { initial: 1000, jitter: 0.5 } });
  const waits = new Set<number>();
  for (let index = 0; index < 50; index++) {
    queue.add(`k${index}`);
    waits.add(must(queue.tryTake()).retry());
  }
  expect(waits.size).toBe(50);
  for (const wait of waits) {
    expect(wait).toBeGreaterThan(500);
    expect(wait).toBeLessThanOrEqual(1000);
  }
});

test("a retry keeps its priority; a later look may choose another", async () => {
  const { clock, queue } = setup();
  queue.add("a", { priority: -100 });
  must(queue.tryTake()).retry();
  await clock.advance(1000);
  const retried = must(queue.tryTake());
  expect(retried.priority).toBe(-100);
  retried.retryAfter(10, { priority: 7 });
  await clock.advance(10);
  const later = must(queue.tryTake());
  expect([later.priority, later.attempt]).toEqual([7, 1]);
});

test("settling a lease twice does nothing", () => {
  const { queue } = setup();
  queue.add("a");
  const lease = must(queue.tryTake());
  lease.done();
  queue.add("a");
  lease.done();
  lease.retry();
  expect(queue.running).toBe(0);
  expect(takeAll(queue)).toEqual(["a"]);
});

test("a namespace with a flood does not hold up the others: with N namespaces each head is among the next N takes", () => {
  const { queue } = setup();
  for (let index = 0; index < 100; index++) queue.add(`flood/${index}`);
  for (const namespace of ["x", "y", "z"]) queue.add(`${namespace}/only`);
  const first = takeAll(queue).slice(0, 4);
  expect(first).toEqual(["flood/0", "x/only", "y/only", "z/only"]);
});

test("within a namespace the order stays first in, first out while namespaces take turns", () => {
  const { queue } = setup();
  for (const key of ["a/1", "a/2", "b/1", "a/3", "b/2"]) queue.add(key);
  expect(takeAll(queue)).toEqual(["a/1", "b/1", "a/2", "b/2", "a/3"]);
});

test("what has aged gets one take in four, however much of a higher priority keeps coming", async () => {
  const { clock, queue } = setup({ ageingMs: 100 });
  for (let index = 0; index < 3; index++) queue.add(`low/${index}`, { priority: -10 });
  let fresh = 0;
  const takenAt = new Map<string, number>();
  const take = () => {
    queue.add(`high/${fresh++}`);
    const lease = must(queue.tryTake());
    takenAt.set(lease.key, takenAt.size + 1);
    lease.done();
  };
  queue.add("high/first");
  for (let round = 0; round < 40; round++) take();
  expect([...takenAt.keys()].some((key) => key.startsWith("low/"))).toBe(false);
  await clock.advance(1000);
  takenAt.clear();
  for (let round = 0; round < 12; round++) take();
  expect(takenAt.get("low/0")).toBeLessThanOrEqual(4);
  expect(takenAt.get("low/1")).toBeLessThanOrEqual(8);
  expect(takenAt.get("low/2")).toBeLessThanOrEqual(12);
});

test("the share of what has aged can be chosen", async () => {
  const { clock, queue } = setup({ ageingMs: 1, agedShare: 2 });
  for (let index = 0; index < 4; index++) {
    queue.add(`low/${index}`, { priority: -1 });
    queue.add(`high/${index}`);
  }
  await clock.advance(10);
  expect(takeAll(queue).slice(0, 4)).toEqual(["high/0", "low/0", "high/1", "low/1"]);
});

test("drain lets what runs and what is due finish, accepts nothing, and forgets what is delayed", async () => {
  const { clock, queue } = setup();
  queue.add("running");
  queue.add("due");
  queue.add("later", { after: 1000 });
  const running = must(queue.tryTake());
  let drained = false;
  const drain = queue.drain().then(() => {
    drained = true;
  });
  expect(queue.add("more")).toBe(false);
  expect(queue.delayed).toBe(0);
  running.retry();
  const due = await queue.take();
  expect(due?.key).toBe("due");
  const end = queue.take();
  await clock.advance(0);
  expect(drained).toBe(false);
  due?.done();
  await drain;
  expect(await end).toBeUndefined();
  expect(await queue.take()).toBeUndefined();
  expect(clock.pending).toBe(0);
});

test("drain can drop what is due", async () => {
  const { queue } = setup();
  queue.add("running");
  queue.add("due");
  const running = must(queue.tryTake());
  queue.add("running");
  const drain = queue.drain({ drop: true });
  running.done();
  await drain;
  expect(queue.tryTake()).toBeUndefined();
});

test("nothing is kept for keys that are idle", () => {
  const { clock, queue } = setup();
  for (let index = 0; index < 1000; index++) {
    queue.add(`ns${index}/a`, { priority: index });
    must(queue.tryTake()).done();
    expect(queue.status(`ns${index}/a`)).toBeUndefined();
  }
  expect([queue.depth, queue.delayed, queue.running, clock.pending]).toEqual([0, 0, 0, 0]);
  expect(queue.sample()).toEqual({ depth: new Map(), running: [] });
});

test("the observer hears adds, waits, work and retries with client-go's meanings", async () => {
  const heard: string[] = [];
  const { clock, queue } = setup({
    backoff: { initial: 500, jitter: 0 },
    observer: {
      added: () => heard.push("added"),
      taken: (seconds) => heard.push(`taken ${seconds}`),
      done: (seconds) => heard.push(`done ${seconds}`),
      retried: () => heard.push("retried"),
    },
  });
  queue.add("a");
  queue.add("a");
  expect(queue.sample().depth).toEqual(new Map([[0, 1]]));
  await clock.advance(2000);
  const lease = must(queue.tryTake());
  await clock.advance(1000);
  expect(queue.sample()).toEqual({ depth: new Map(), running: [1] });
  lease.retry();
  await clock.advance(500);
  expect(heard).toEqual(["added", "taken 2", "done 1", "retried", "added"]);
});

test("object keys are the same when namespace and name are", () => {
  const clock = new ManualClock();
  const queue = createQueue<{ namespace?: string; name: string }>({ clock, random: seededRandom(1) });
  queue.add({ namespace: "a", name: "x" });
  queue.add({ namespace: "a", name: "x" });
  queue.add({ name: "x" });
  expect(queue.depth).toBe(2);
});

test("invalid options are refused by name", () => {
  expect(() => setup({ ageingMs: 0 })).toThrow("ageingMs (0) must be above 0");
  expect(() => setup({ agedShare: 1 })).toThrow("agedShare (1)");
  expect(() => setup({ backoff: { initial: 10, max: 5 } })).toThrow("max (5) must be at least initial (10)");
  expect(() => setup({ backoff: { factor: 0.5 } })).toThrow("factor (0.5)");
  expect(() => setup({ backoff: { jitter: 2 } })).toThrow("jitter (2)");
  expect(() => setup({ backoff: { initial: Number.NaN } })).toThrow("initial (NaN)");
});

test("workers that wait for keys run every key, one worker per key at a time", async () => {
  const { queue } = setup();
  const running = new Set<string>();
  const runs: string[] = [];
  const worker = async () => {
    for (let lease: Lease<string> | undefined = await queue.take(); lease; lease = await queue.take()) {
      expect(running.has(lease.key)).toBe(false);
      running.add(lease.key);
      await Promise.resolve();
      running.delete(lease.key);
      runs.push(lease.key);
      lease.done();
    }
  };
  const workers = [worker(), worker(), worker()];
  for (let index = 0; index < 30; index++) {
    queue.add(`k${index % 10}`);
    await Promise.resolve();
  }
  await queue.drain();
  await Promise.all(workers);
  expect(new Set(runs).size).toBe(10);
});

test("a delay that is no whole number of milliseconds ends, on a clock that cannot tell the fraction", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const queue = createQueue<string>({ clock, random: seededRandom(1) });
  queue.add("a", { after: 10.000_01 });
  await clock.advance(11);
  expect(queue.tryTake()?.key).toBe("a");
  expect(clock.pending).toBe(0);
});
