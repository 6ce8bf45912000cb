import { ManualClock } from "@windlass/clock";
import { ConfigMap, Deployment, Lease } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { appController, key, ModelRun, WebApp, webapp } from "../reconcile/model-run.fixture.ts";
import { LeaseMemory } from "./fence.ts";

const election = (identity: string) => ({ leaderElection: { name: "op", namespace: "default", identity } });
const lease = { namespace: "default", name: "op" };

describe("a lease", () => {
  test("is held from when that is said until its moment", async () => {
    const clock = new ManualClock();
    const lease = new LeaseMemory(clock);
    expect(lease.isHeld).toBe(false);
    lease.holdUntil(clock.monotonic() + 10_000);
    await clock.advance(9_999);
    expect(lease.isHeld).toBe(true);
    await clock.advance(1);
    expect(lease.isHeld).toBe(false);
  });

  test("is seen by another thread's view of the same memory", () => {
    const clock = new ManualClock();
    const renewing = new LeaseMemory(clock);
    const writing = new LeaseMemory(clock, renewing.memory);
    renewing.holdUntil(clock.monotonic() + 10_000);
    expect(writing.isHeld).toBe(true);
    renewing.letGo();
    expect(writing.isHeld).toBe(false);
  });

  test("is not held when the machine slept: the wall clock ran on and the monotonic one did not", () => {
    let wall = 1_000_000;
    const lease = new LeaseMemory({ now: () => wall, monotonic: () => 5_000 });
    lease.holdUntil(15_000);
    wall += 1_000;
    expect(lease.isHeld).toBe(true);
    wall += 60_000;
    expect(lease.isHeld).toBe(false);
    lease.holdUntil(15_000);
    expect(lease.isHeld, "told once more what was known before the sleep").toBe(false);
    lease.holdUntil(17_000);
    expect(lease.isHeld, "renewed since").toBe(true);
  });
});

describe("replicas", () => {
  test("a leader whose lease someone touched looks at it, renews it, and counts that", async () => {
    const run = new ModelRun(election("a"));
    run.manager.add(webapp);
    await run.manager.start();
    const slow = () =>
      /leader_election_slowpath_total\{name="op"\} (\d+)/.exec(run.manager.registry.render())?.[1];
    await run.settle(10_000);
    expect(slow()).toBe("0");
    const held = run.cluster.get(Lease, lease);
    run.cluster.put(Lease, { ...held, metadata: { ...held?.metadata, labels: { seen: "by-someone" } } });
    await run.settle(10_000);
    expect(slow()).toBe("1");
    expect(run.manager.isLeading).toBe(true);
    await run.manager.stop();
  });

  test("one leads and works; the other stands by with full caches, and takes over at once on a graceful stop", async () => {
    const run = new ModelRun(election("a"));
    run.manager.add(webapp);
    const standby = run.another(election("b")).add(webapp);
    await run.manager.start();
    await run.settle(100);
    await standby.start();
    run.put();
    await run.settle(5_000);
    expect([run.manager.isLeading, standby.isLeading]).toEqual([true, false]);
    expect(run.cluster.get(Deployment, key)).toBeDefined();
    expect(run.cluster.get(Lease, lease)?.spec).toMatchObject({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
    });
    const stopped = run.manager.stop();
    await run.settle(3_000);
    await stopped;
    expect(standby.isLeading).toBe(true);
    expect(run.cluster.get(Lease, lease)?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    const end = standby.stop();
    await run.settle();
    await end;
  });

  test("a lease that is deleted goes back to its holder; a standby does not lead next to it", async () => {
    const run = new ModelRun(election("a"));
    run.manager.add(webapp);
    const standby = run.another(election("b")).add(webapp);
    await run.manager.start();
    await run.settle(100);
    await standby.start();
    await run.settle(5_000);
    run.cluster.remove(Lease, lease);
    for (let passed = 0; passed < 20_000; passed += 100) {
      await run.settle(100);
      expect(standby.isLeading).toBe(false);
    }
    expect(run.manager.isLeading).toBe(true);
    expect(run.cluster.get(Lease, lease)?.spec).toMatchObject({ holderIdentity: "a" });
    const ends = [run.manager.stop(), standby.stop()];
    await run.settle(60_000);
    await Promise.all(ends);
  });

  test("a leader that cannot renew stops writing in the middle of a reconcile, before another may lead", async () => {
    const run = new ModelRun(election("a"));
    const outcomes: string[] = [];
    run.manager.add(
      appController({
        timeout: 0,
        owns: [ConfigMap],
        reconcile: async (_app, { client, clock }) => {
          for (let index = 0; index < 30; index += 1) {
            await new Promise<void>((resolve) => clock.schedule(1_000, resolve));
            const made = client.create(ConfigMap, {
              metadata: { namespace: "default", name: `n${clock.monotonic()}` },
            });
            outcomes.push(
              await made.then(
                () => "wrote",
                (error: Error) => error.name,
              ),
            );
          }
        },
      }),
    );
    await run.manager.start();
    await run.settle(100);
    run.put();
    await run.settle(3_000);
    const cutAt = run.clock.monotonic();
    run.cluster.fault = ({ path }) => (path.includes("/leases") ? 500 : undefined);
    await run.settle(40_000);
    const lastWrite = run.cluster.cache.list(ConfigMap).map((one) => Number(one.metadata.name.slice(1)));
    expect(Math.max(...lastWrite)).toBeLessThanOrEqual(cutAt + 10_000);
    expect(outcomes).toContain("wrote");
    expect(outcomes.at(-1)).not.toBe("wrote");
    expect(run.manager.isLeading).toBe(false);
    run.cluster.fault = undefined;
    await run.settle(30_000);
    expect(run.manager.isLeading).toBe(true);
    const stopped = run.manager.stop();
    await run.settle(60_000);
    await stopped;
  });

  test("a leader whose renewals get no answer stops at the moment its lease ends for it", async () => {
    const run = new ModelRun();
    let isSilent = false;
    const client = run.cluster.client.through((next) => ({
      request: (request) =>
        isSilent && request.path.includes("/leases") ? new Promise(() => undefined) : next.request(request),
      close: () => next.close(),
    }));
    const leader = run.another({ ...election("a"), client });
    let signal: AbortSignal | undefined;
    leader.add((context) => {
      signal = context.signal;
    });
    await leader.start();
    await run.settle(100);
    isSilent = true;
    await run.settle(9_800);
    expect([leader.isLeading, signal?.aborted]).toEqual([true, false]);
    await run.settle(200);
    expect([leader.isLeading, signal?.aborted]).toEqual([false, true]);
    const stopped = leader.stop();
    await run.settle(30_000);
    await stopped;
  });

  test("a standby takes over a dead leader's lease after it has seen it unchanged for its duration", async () => {
    const run = new ModelRun(election("b"));
    run.cluster.put(Lease, {
      metadata: lease,
      spec: {
        holderIdentity: "dead",
        leaseDurationSeconds: 15,
        renewTime: "2020-01-01T00:00:00.000000Z",
        leaseTransitions: 4,
      },
    });
    run.manager.add(webapp);
    await run.manager.start();
    await run.settle(14_000);
    expect(run.manager.isLeading).toBe(false);
    await run.settle(5_000);
    expect(run.manager.isLeading).toBe(true);
    expect(run.cluster.get(Lease, lease)?.spec?.leaseTransitions).toBe(5);
    const stopped = run.manager.stop();
    await run.settle();
    await stopped;
  });

  test("durations that do not protect are refused", async () => {
    const run = new ModelRun({
      leaderElection: { name: "op", leaseDuration: 5_000, renewDeadline: 10_000 },
    });
    await expect(run.manager.start()).rejects.toThrow(
      "leaseDuration (5000) must exceed renewDeadline (10000)",
    );
  });
});

test("the same seed gives the same run", async () => {
  const play = async () => {
    const run = new ModelRun(election("a"));
    run.manager.add(webapp);
    await run.manager.start();
    run.put();
    await run.settle(7_000);
    run.cluster.remove(Deployment, key);
    run.cluster.fault = ({ path }) => (path.includes("/services/") ? 500 : undefined);
    run.put({ replicas: 5, expose: true, image: "nginx:9" }, "second");
    await run.settle(2_000);
    run.cluster.fault = undefined;
    await run.settle(20_000);
    const stopped = run.manager.stop();
    await run.settle();
    await stopped;
    return JSON.stringify([
      run.cluster.writes,
      run.cluster.get(WebApp, key),
      run.lines.map(({ message }) => message),
    ]);
  };
  expect(await play()).toBe(await play());
});

test("a replica that leads again looks at every object again", async () => {
  const run = new ModelRun(election("a"));
  const names: string[] = [];
  run.manager.add(appController({ reconcile: (app) => void names.push(app.metadata.name) }));
  await run.manager.start();
  run.put({}, "one");
  run.put({}, "two");
  await run.settle(3_000);
  expect(names.toSorted()).toEqual(["one", "two"]);
  run.cluster.fault = ({ path }) => (path.includes("/leases") ? 500 : undefined);
  await run.settle(20_000);
  expect(run.manager.isLeading).toBe(false);
  run.put({ image: "changed meanwhile" }, "one");
  await run.settle(1_000);
  expect(names).toHaveLength(2);
  run.cluster.fault = undefined;
  await run.settle(30_000);
  expect(run.manager.isLeading).toBe(true);
  expect(names.slice(2).toSorted()).toEqual(["one", "two"]);
  const stopped = run.manager.stop();
  await run.settle();
  await stopped;
});
