import { hostname } from "node:os";
import { Client, type Interceptor, retry } from "@windlass/client";
import { type Clock, seededRandom, sleep } from "@windlass/clock";
import { ConfigMap, Lease } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { appController, ModelRun } from "../reconcile/model-run.fixture.ts";

const election = (identity?: string) => ({
  leaderElection: { name: "op", namespace: "default", ...(identity === undefined ? {} : { identity }) },
});
const lease = { namespace: "default", name: "op" };
const made = (name: string) => ({ metadata: { namespace: "default", name } });
const leasesFail = ({ path }: { readonly path: string }) => (path.includes("/leases") ? 500 : undefined);

/**
 * A run under a clock whose machine can be put to sleep: the wall clock runs on then, and the
 * monotonic one does not.
 */
function sleepingRun() {
  let slept = 0;
  const run = new ModelRun();
  const clock: Clock = {
    now: () => run.clock.now() + slept,
    monotonic: () => run.clock.monotonic(),
    schedule: (ms, task) => run.clock.schedule(ms, task),
  };
  const sleep = () => {
    slept += 60_000;
  };
  return { run, clock, sleep };
}

test("a leader whose machine slept sends neither a write nor an event, before any timer has fired", async () => {
  const { run, clock, sleep } = sleepingRun();
  const outcomes: string[] = [];
  const sleeper = run.another({ ...election("a"), clock });
  sleeper.add(
    appController({
      owns: [ConfigMap],
      errorCondition: false,
      reconcile: async (_app, { client, events }) => {
        if (outcomes.length > 0) return;
        await client.create(ConfigMap, made("before"));
        sleep();
        events.normal("TooLate", "said after the sleep");
        outcomes.push(
          await client.create(ConfigMap, made("after")).then(
            () => "wrote",
            (error: Error) => error.name,
          ),
        );
      },
    }),
  );
  await sleeper.start();
  run.put();
  await run.settle(1_000);
  expect(outcomes).toEqual(["FencedError"]);
  const written = run.cluster.writes.map(({ path, body }) => `${path} ${JSON.stringify(body)}`);
  expect(written.filter((write) => write.includes("before"))).toHaveLength(1);
  expect(written.filter((write) => /after|TooLate/.test(write))).toEqual([]);
  const stopped = sleeper.stop();
  await run.settle(60_000);
  await stopped;
});

test("a leader whose machine slept writes nothing until it has renewed its lease, however often it tries", async () => {
  const { run, clock, sleep } = sleepingRun();
  const sleeper = run.another({ ...election("a"), clock });
  const outcomes: string[] = [];
  sleeper.add(({ client }) => {
    const write = async () => {
      const name = `at-${run.clock.monotonic()}`;
      outcomes.push(
        await client.create(ConfigMap, made(name)).then(
          () => "wrote",
          (error: Error) => error.name,
        ),
      );
    };
    for (const at of [500, 4_500, 6_500]) clock.schedule(at, () => void write());
  });
  await sleeper.start();
  await run.settle(3_000);
  sleep();
  run.cluster.fault = leasesFail;
  await run.settle(2_000);
  run.cluster.fault = undefined;
  await run.settle(2_000);
  expect(outcomes).toEqual(["wrote", "FencedError", "wrote"]);
  const stopped = sleeper.stop();
  await run.settle(60_000);
  await stopped;
});

test("a write that was under way while the machine slept is abandoned, and the term goes on if the lease is renewed", async () => {
  const { run, clock, sleep: fallAsleep } = sleepingRun();
  const sleeper = run.another({ ...election("a"), clock, client: slow(run, "/configmaps", 8_000) });
  const outcomes: string[] = [];
  sleeper.add(({ client, signal }) => {
    outcomes.push("begun");
    signal.addEventListener("abort", () => outcomes.push("ended"));
    client.create(ConfigMap, made("slow")).catch((error: Error) => outcomes.push(error.name));
  });
  await sleeper.start();
  await run.settle(3_000);
  fallAsleep();
  await run.settle(2_000);
  expect(outcomes).toEqual(["begun", "FencedError"]);
  expect(sleeper.isLeading).toBe(true);
  const stopped = sleeper.stop();
  await run.settle(60_000);
  await stopped;
});

test("a renewal that was under way while the machine slept renews nothing", async () => {
  const { run, clock, sleep } = sleepingRun();
  const answer = Promise.withResolvers<void>();
  let isHeld = false;
  const client = run.cluster.client.through((next) => ({
    request: async (request) => {
      const response = await next.request(request);
      if (isHeld && request.method === "PUT") await answer.promise;
      return response;
    },
    close: () => next.close(),
  }));
  const sleeper = run.another({ ...election("a"), clock, client });
  let outcome = "";
  sleeper.add((context) => {
    clock.schedule(3_000, () => {
      void context.client.create(ConfigMap, made("late")).then(
        () => (outcome = "wrote"),
        (error: Error) => (outcome = error.name),
      );
    });
  });
  await sleeper.start();
  await run.settle(1_000);
  isHeld = true;
  await run.settle(1_500);
  sleep();
  answer.resolve();
  await run.settle(1_000);
  expect(outcome).toBe("FencedError");
  const stopped = sleeper.stop();
  await run.settle(60_000);
  await stopped;
});

test("a write that a handed-in client would repeat is not repeated once the lease is lost", async () => {
  const run = new ModelRun();
  const sent: string[] = [];
  const busy: Interceptor = (next) => ({
    request: async (request) => {
      const isOurs = request.method === "POST" && request.path.includes("/configmaps");
      const response = await next.request(request);
      if (!isOurs) return response;
      sent.push(`at ${run.clock.monotonic()}`);
      return { ...response, status: 429, headers: { ...response.headers, "retry-after": "15" } };
    },
    close: () => next.close(),
  });
  const { client } = run.cluster;
  const repeating = retry({ clock: run.clock, random: seededRandom(1) });
  const leader = run.another({ ...election("a"), client: client.through(busy).through(repeating) });
  let outcome = "";
  leader.add((context) => {
    void context.client.create(ConfigMap, made("late")).catch((error: Error) => {
      outcome = error.name;
    });
  });
  await leader.start();
  await run.settle(1_000);
  expect(sent).toEqual(["at 0"]);
  run.cluster.fault = leasesFail;
  await run.settle(60_000);
  expect(leader.isLeading).toBe(false);
  expect(sent).toEqual(["at 0"]);
  expect(outcome).toBe("FencedError");
  run.cluster.fault = undefined;
  const stopped = leader.stop();
  await run.settle(60_000);
  await stopped;
});

/** Delays each request to a path by this
 * time, as slow credentials, a slow connection or a
 * repetition do.
 */
function slow(run: ModelRun, path: string, ms: number): Client {
  return run.cluster.client.through((next) => ({
    request: async (request) => {
      if (request.path.includes(path)) await sleep(run.clock, ms, request.signal);
      return next.request(request);
    },
    close: () => next.close(),
  }));
}

test("a write that still waits for its connection when the lease is lost is never sent", async () => {
  const run = new ModelRun();
  const leader = run.another({ ...election("a"), client: slow(run, "/configmaps", 8_000) });
  let outcome = "";
  leader.add(({ client, clock }) => {
    clock.schedule(6_000, () => {
      client.create(ConfigMap, made("late")).catch((error: Error) => {
        outcome = `${error.name} at ${clock.monotonic()}`;
      });
    });
  });
  await leader.start();
  await run.settle(1);
  run.cluster.fault = leasesFail;
  await run.settle(60_000);
  expect(run.cluster.get(ConfigMap, { namespace: "default", name: "late" })).toBeUndefined();
  expect(outcome, "given up when the fence closed").toBe("FencedError at 10000");
  const stopped = leader.stop();
  await run.settle(60_000);
  await stopped;
});

test("a reconcile that timed out while its write waited for a connection does not write after the next one", async () => {
  const run = new ModelRun();
  const operator = run.another({ client: slow(run, "late", 30_000) });
  const outcomes: string[] = [];
  operator.add(
    appController({
      timeout: 10_000,
      owns: [ConfigMap],
      errorCondition: false,
      reconcile: async (_app, { client, attempt }) => {
        const name = attempt === 1 ? "late" : "next";
        await client.apply(ConfigMap, made(name)).then(
          () => outcomes.push(name),
          (error: Error) => outcomes.push(error.name),
        );
      },
    }),
  );
  await operator.start();
  run.put();
  await run.settle(60_000);
  expect(outcomes).toEqual(["next", "ReconcileOverError"]);
  expect(run.cluster.get(ConfigMap, { namespace: "default", name: "late" })).toBeUndefined();
  const stopped = operator.stop();
  await run.settle(1_000);
  await stopped;
});

test("the signal of a reconcile under way is aborted when the lease is lost", async () => {
  const run = new ModelRun(election("a"));
  const told: string[] = [];
  run.manager.add(
    appController({
      timeout: 0,
      reconcile: (_app, { signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            told.push(String(signal.reason));
            resolve();
          });
        }),
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle(1_000);
  run.cluster.fault = leasesFail;
  await run.settle(12_000);
  expect(told).toEqual(["Error: the lease was lost"]);
  const stopped = run.manager.stop();
  await run.settle(30_000);
  await stopped;
});

test("the signal of a reconcile that a stopping replica waits for is aborted at once if the lease is lost meanwhile", async () => {
  const run = new ModelRun(election("a"));
  const told: { readonly reason: string; readonly at: number }[] = [];
  run.manager.add(
    appController({
      timeout: 0,
      reconcile: (_app, { signal, clock }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            told.push({ reason: String(signal.reason), at: clock.monotonic() });
            resolve();
          });
        }),
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle(1_000);
  run.cluster.fault = leasesFail;
  const stopped = run.manager.stop();
  const stoppedAt = run.clock.monotonic();
  await run.settle(30_000);
  await stopped;
  expect(told.map(({ reason }) => reason)).toEqual(["Error: the lease was lost"]);
  // The grace of a stop is over only after 24 seconds.
  expect((told[0]?.at ?? 0) - stoppedAt).toBeLessThan(10_100);
});

test("a replica that stops holds the lease until its last write is done", async () => {
  const run = new ModelRun(election("a"));
  const outcomes: string[] = [];
  run.manager.add(
    appController({
      owns: [ConfigMap],
      reconcile: async (_app, { client, clock }) => {
        await new Promise<void>((resolve) => clock.schedule(5_000, resolve));
        const holder = run.cluster.get(Lease, lease)?.spec?.holderIdentity;
        const outcome = await client.create(ConfigMap, made("last")).then(
          () => "wrote",
          (error: Error) => error.name,
        );
        outcomes.push(`${holder} ${outcome}`);
      },
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle(1_000);
  const stopped = run.manager.stop();
  await run.settle(10_000);
  await stopped;
  expect(outcomes).toEqual(["a wrote"]);
  expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("");
});

test("a lease is renewed every two seconds, given up after ten without, and named after host and process", async () => {
  const run = new ModelRun(election());
  await run.manager.start();
  await run.settle(100);
  const { holderIdentity, leaseDurationSeconds } = run.cluster.get(Lease, lease)?.spec ?? {};
  expect(holderIdentity).toMatch(/_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(holderIdentity?.startsWith(`${process.env.POD_NAME ?? hostname()}_`)).toBe(true);
  expect(leaseDurationSeconds).toBe(15);
  run.cluster.takeWrites();
  await run.settle(20_000);
  expect(run.cluster.takeWrites()).toHaveLength(10);
  run.cluster.fault = leasesFail;
  // The last renewal was at most two seconds ago.
  await run.settle(7_900);
  expect(run.manager.isLeading).toBe(true);
  await run.settle(2_100);
  expect(run.manager.isLeading).toBe(false);
  const stopped = run.manager.stop();
  await run.settle(30_000);
  await stopped;
});

test("a lease request that hangs is abandoned in time for another", async () => {
  const run = new ModelRun();
  const { client } = run.cluster;
  let hangs = 0;
  const hanging = new Client({
    transport: {
      request: (request) => {
        if (hangs === 0 || !request.path.includes("/leases")) return client.transport.request(request);
        hangs -= 1;
        return new Promise<never>(() => undefined);
      },
      close: () => Promise.resolve(),
    },
    onWarning: () => undefined,
  });
  const leader = run.another({ ...election("a"), client: hanging });
  await leader.start();
  await run.settle(1_000);
  hangs = 1;
  await run.settle(30_000);
  expect(leader.isLeading).toBe(true);
  expect(run.lines.filter(({ message }) => message === "no longer the leader")).toEqual([]);
  const stopped = leader.stop();
  await run.settle(1_000);
  await stopped;
});
