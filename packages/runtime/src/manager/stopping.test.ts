import { describe, expect, test } from "vitest";
import { Lease } from "../kinds/index.ts";
import { appController, ModelRun, webapp } from "../reconcile/model-run.ts";
import type { Runnable, Stage } from "./runnable.ts";

const election = { leaderElection: { name: "op", namespace: "default", identity: "a" } };
const lease = { namespace: "default", name: "op" };
const leasesFail = ({ path }: { readonly path: string }) => (path.includes("/leases") ? 500 : undefined);

/** A runnable that is still starting when it is told to stop, and takes that as a failure or not. */
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
