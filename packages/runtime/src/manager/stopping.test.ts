import type { Writer } from "@windlass/client";
import { sleep } from "@windlass/clock";
import { ConfigMap, Lease } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { appController, ModelRun, webapp } from "../reconcile/model-run.fixture.ts";
import type { Runnable, Stage } from "./runnable.ts";

const election = { leaderElection: { name: "op", namespace: "default", identity: "a" } };
const lease = { namespace: "default", name: "op" };
const leasesFail = ({ path }: { readonly path: string }) => (path.includes("/leases") ? 500 : undefined);

/**
 * A runnable that is still starting when it is asked to stop, and takes that as a failure or not.
 */
function slow(name: string, stage: Stage, seen: string[], stopped: "fails" | "ends"): Runnable {
  return {
    name,
    stage,
    start({ signal }) {
      seen.push(`start ${name}`);
      return new Promise<void>((resolve, reject) => {
        const onAbort = () => (stopped === "fails" ? reject(signal.reason) : resolve());
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}

function quick(name: string, stage: Stage, seen: string[]): Runnable {
  return {
    name,
    stage,
    start: () => {
      seen.push(`start ${name}`);
      return () => void seen.push(`stop ${name}`);
    },
  };
}

describe("a manager that is stopped while it starts", () => {
  test("leaves no port open, however early that was", async () => {
    const local = { port: 0, host: "127.0.0.1" };
    const run = new ModelRun({ health: local, metrics: local });
    const starting = run.manager.add(webapp).start();
    const stopped = run.manager.stop();
    await expect(starting).rejects.toThrow("stopped while it was starting");
    await stopped;
    const { health, metrics } = run.manager.ports;
    for (const port of [health, metrics])
      if (port !== undefined) await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    expect(run.clock.pending).toBe(0);
  });

  test.each(["fails", "ends"] as const)(
    "starts nothing more, and does not take the lease, if what starts %s",
    async (how) => {
      const seen: string[] = [];
      const run = new ModelRun(election);
      const first = slow("first", "everywhere", seen, how);
      const starting = run.manager
        .add(first)
        .add(quick("second", "everywhere", seen))
        .start();
      const failed = expect(starting).rejects.toThrow();
      await run.settle(0);
      const stopped = run.manager.stop();
      await run.settle(5_000);
      await stopped;
      await failed;
      expect(seen).toEqual(["start first"]);
      expect(run.manager.isLeading).toBe(false);
      expect(run.cluster.get(Lease, lease)).toBeUndefined();
      expect(run.clock.pending).toBe(0);
    },
  );
});

describe("a manager that does not stop in time", () => {
  const hanging = (write: (client: Writer) => void): Runnable => ({
    name: "hangs",
    start: ({ client }) => {
      write(client);
      return () => new Promise<void>(() => undefined);
    },
  });

  test.each([
    { replicas: "several", options: election },
    { replicas: "one", options: {} },
  ])("no longer leads, and writes nothing, when stop resolves ($replicas)", async ({ options }) => {
    const run = new ModelRun({ ...options, gracefulShutdownTimeout: 5_000 });
    let writer: Writer | undefined;
    let reconciles = 0;
    run.manager
      .add(
        hanging((client) => {
          writer = client;
        }),
      )
      .add(appController({ reconcile: () => void reconciles++ }));
    await run.manager.start();
    run.put();
    await run.settle(1_000);
    expect(run.manager.isLeading).toBe(true);
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
    expect(run.manager.isLeading).toBe(false);
    await expect(
      writer?.create(ConfigMap, { metadata: { namespace: "default", name: "late" } }),
    ).rejects.toThrow("does not hold the lease");
    expect(run.lines.map(({ message }) => message)).toContain(
      "not everything stopped in time; what is left is abandoned",
    );
    run.cluster.takeWrites();
    const before = reconciles;
    run.put({ image: "nginx:2" });
    await run.settle(60_000);
    expect(run.cluster.takeWrites(), "neither a renewal nor a release").toEqual([]);
    expect(reconciles).toBe(before);
    expect(run.clock.pending).toBe(0);
  });

  test.each([
    { replicas: "several", options: election },
    { replicas: "one", options: {} },
  ])("has told all of its work to stop, though some does not end ($replicas)", async ({ options }) => {
    const run = new ModelRun({ ...options, gracefulShutdownTimeout: 5_000 });
    const told: string[] = [];
    const listening = (name: string, end: () => Promise<void>): Runnable => ({
      name,
      start: ({ signal }) => {
        signal.addEventListener("abort", () => told.push(name));
        return end;
      },
    });
    run.manager
      .add(listening("first", () => Promise.resolve()))
      .add(listening("last", () => new Promise<void>(() => undefined)));
    await run.manager.start();
    await run.settle(1_000);
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
    expect(told).toEqual(["last", "first"]);
  });

  test("leaves the lease to expire, so that the next one leads only then", async () => {
    const run = new ModelRun({ ...election, gracefulShutdownTimeout: 5_000 });
    run.manager.add(hanging(() => undefined));
    await run.manager.start();
    await run.settle(1_000);
    const standby = run.another({ leaderElection: { ...election.leaderElection, identity: "b" } });
    await standby.start();
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
    expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("a");
    await run.settle(11_000);
    expect(standby.isLeading).toBe(false);
    await run.settle(7_000);
    expect(standby.isLeading).toBe(true);
    const end = standby.stop();
    await run.settle(1_000);
    await end;
  });

  test("gives up a renewal that is under way", async () => {
    const run = new ModelRun();
    const answer = Promise.withResolvers<void>();
    const renewals: number[] = [];
    const client = run.cluster.client.through((next) => ({
      request: async (request) => {
        if (request.method === "PUT" && run.clock.monotonic() > 4_000) {
          await answer.promise;
          request.signal?.throwIfAborted();
          renewals.push(run.clock.monotonic());
        }
        return next.request(request);
      },
      close: () => next.close(),
    }));
    const leader = run.another({ ...election, client, gracefulShutdownTimeout: 3_000 });
    leader.add(hanging(() => undefined));
    await leader.start();
    await run.settle(2_000);
    const stopped = leader.stop();
    await run.settle(3_000);
    await stopped;
    expect(leader.isLeading).toBe(false);
    answer.resolve();
    await run.settle(10_000);
    expect(renewals).toEqual([]);
    expect(run.clock.pending).toBe(0);
  });
});

describe("a manager that stops in time", () => {
  /** A manager with a runnable that writes once, and a server that keeps the answer to itself. */
  async function unanswered(
    outcome: (answered: Promise<void>, signal: AbortSignal | undefined) => Promise<void>,
  ) {
    const run = new ModelRun();
    const answered = Promise.withResolvers<void>();
    const client = run.cluster.client.through((next) => ({
      request: async (request) => {
        const response = await next.request(request);
        if (request.path.includes("/configmaps")) await outcome(answered.promise, request.signal);
        return response;
      },
      close: () => next.close(),
    }));
    const leader = run.another({ ...election, client });
    leader.add(({ client: writer }) => {
      void writer
        .create(ConfigMap, { metadata: { namespace: "default", name: "slow" } })
        .catch(() => undefined);
    });
    await leader.start();
    await run.settle(1_000);
    return { run, leader, answered };
  }

  test("the manager holds the lease until the last write is answered, though no caller waits for it any more", async () => {
    const { run, leader, answered } = await unanswered((answer) => answer);
    const stopped = leader.stop();
    await run.settle(5_000);
    expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("a");
    expect(leader.isLeading).toBe(true);
    answered.resolve();
    await run.settle(100);
    await stopped;
    expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("");
  });

  test("does not release the lease if a write of the last minute has had no answer", async () => {
    const { run, leader } = await unanswered(() => Promise.reject(new Error("connection reset")));
    await run.settle(30_000);
    const stopped = leader.stop();
    await run.settle(5_000);
    await stopped;
    expect(leader.isLeading).toBe(false);
    expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("a");
    expect(run.clock.pending).toBe(0);
  });

  test.for([500, 502, 504])(
    "does not release the lease after an answer of %i, by which the write may still be done",
    async (status) => {
      const run = new ModelRun(election);
      run.cluster.fault = ({ path }) => (path.includes("/configmaps") ? status : undefined);
      run.manager.add(({ client }) => {
        void client
          .create(ConfigMap, { metadata: { namespace: "default", name: "late" } })
          .catch(() => undefined);
      });
      await run.manager.start();
      await run.settle(1_000);
      const stopped = run.manager.stop();
      await run.settle(5_000);
      await stopped;
      expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("a");
    },
  );

  test("releases it once that is longer ago", async () => {
    const { run, leader } = await unanswered(() => Promise.reject(new Error("connection reset")));
    await run.settle(60_000);
    const stopped = leader.stop();
    await run.settle(5_000);
    await stopped;
    expect(run.cluster.get(Lease, lease)?.spec?.holderIdentity).toBe("");
  });
});

describe("a lease that is lost", () => {
  test("while the leader's runnables start, has the rest of them not start, and the replica stay ready", async () => {
    const seen: string[] = [];
    const local = { port: 0, host: "127.0.0.1" };
    const run = new ModelRun({ ...election, health: local });
    const first = slow("first", "leader", seen, "fails");
    await run.manager
      .add(first)
      .add(quick("second", "leader", seen))
      .start();
    await run.settle(1_000);
    expect(run.manager.isLeading).toBe(true);
    run.cluster.fault = leasesFail;
    await run.settle(11_000);
    expect(run.manager.isLeading).toBe(false);
    expect(seen).toEqual(["start first"]);
    run.cluster.fault = undefined;
    const ready = await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz?exclude=leader-election`);
    expect(await ready.text()).toBe("ok");
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
  });

  test("by work that does not end, is reported in the log and by the readiness probe until it has", async () => {
    const local = { port: 0, host: "127.0.0.1" };
    const run = new ModelRun({ ...election, health: local });
    const held = Promise.withResolvers<void>();
    run.manager.add({ name: "slow to stop", start: () => () => held.promise });
    await run.manager.start();
    await run.settle(1_000);
    const ready = async () =>
      (await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz?verbose`)).text();
    const told = () =>
      run.lines.filter(({ message }) => message.includes("slow to stop has not stopped 30 s"));
    run.cluster.fault = leasesFail;
    await run.settle(11_000);
    run.cluster.fault = undefined;
    await run.settle(20_000);
    expect(run.manager.isLeading).toBe(true);
    expect(told()).toEqual([]);
    await run.settle(20_000);
    expect(told()).toHaveLength(1);
    expect(await ready()).toContain("[-]leader-election failed");
    held.resolve();
    await run.settle(100);
    expect(await ready()).toContain("[+]leader-election ok");
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
  });

  test.each(["while it leads", "while it stops"])(
    "%s, is signaled to all work at once, though some of it does not end",
    async (when) => {
      const run = new ModelRun(election);
      const told: string[] = [];
      const held = Promise.withResolvers<void>();
      const runnable = (name: string, end: () => Promise<void>): Runnable => ({
        name,
        start: ({ signal }) => {
          signal.addEventListener("abort", () => told.push(name));
          return end;
        },
      });
      run.manager
        .add(runnable("first", () => Promise.resolve()))
        .add(runnable("last", () => held.promise))
        .add(
          appController({
            timeout: 0,
            reconcile: (_app, { signal }) =>
              new Promise<void>(() => {
                signal.addEventListener("abort", () => told.push(signal.reason.message));
              }),
          }),
        );
      await run.manager.start();
      run.put();
      await run.settle(1_000);
      run.cluster.fault = leasesFail;
      const stopping = when === "while it stops" ? run.manager.stop() : undefined;
      await run.settle(11_000);
      expect(told.toSorted()).toEqual(["first", "last", "the lease was lost"]);
      held.resolve();
      const stopped = stopping ?? run.manager.stop();
      await run.settle(30_000);
      await stopped;
    },
  );

  test("while a runnable starts that takes no notice, has the next term wait for it", async () => {
    const run = new ModelRun(election);
    let running = 0;
    const most: number[] = [];
    run.manager.add({
      name: "slow to start",
      start: async ({ clock }) => {
        running += 1;
        most.push(running);
        await sleep(clock, 25_000);
        return () => {
          running -= 1;
        };
      },
    });
    await run.manager.start();
    await run.settle(1_000);
    run.cluster.fault = leasesFail;
    await run.settle(11_000);
    run.cluster.fault = undefined;
    await run.settle(5_000);
    expect(run.manager.isLeading).toBe(true);
    await run.settle(60_000);
    expect(most).toEqual([1, 1]);
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
    expect(running).toBe(0);
  });

  test("again, while the work of the term before still ends, lets no reconcile begin", async () => {
    const run = new ModelRun(election);
    const held = Promise.withResolvers<void>();
    const begun: number[] = [];
    run.manager
      .add({ name: "slow to stop", start: () => () => held.promise })
      .add(appController({ reconcile: (_app, { clock }) => void begun.push(clock.monotonic()) }));
    await run.manager.start();
    run.put();
    await run.settle(1_000);
    expect(begun).toHaveLength(1);
    run.cluster.fault = leasesFail;
    await run.settle(11_000);
    run.cluster.fault = undefined;
    await run.settle(5_000);
    expect(run.manager.isLeading).toBe(true);
    run.cluster.fault = leasesFail;
    await run.settle(11_000);
    expect(run.manager.isLeading).toBe(false);
    held.resolve();
    await run.settle(1_000);
    expect(begun).toHaveLength(1);
    run.cluster.fault = undefined;
    await run.settle(5_000);
    expect(begun).toHaveLength(2);
    const stopped = run.manager.stop();
    await run.settle(5_000);
    await stopped;
  });
});
