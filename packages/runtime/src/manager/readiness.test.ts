import { Deployment } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { ModelRun, webapp } from "../reconcile/model-run.fixture.ts";

const health = { port: 0, host: "127.0.0.1" };
const ready = async (port: number | undefined) =>
  (await fetch(`http://127.0.0.1:${port}/readyz?verbose`)).text();

test("readyz names the controllers whose caches are not full, however long the manager has run", async () => {
  const run = new ModelRun();
  const { cache } = run.cluster;
  const half = run.another({
    health,
    cache: {
      ...cache,
      informer: (kind, scope) => {
        const informer = cache.informer(kind, scope);
        return (kind as object) === Deployment
          ? { ...informer, hasSynced: false, synced: new Promise<void>(() => undefined) }
          : informer;
      },
    },
  });
  half.add(webapp);
  await half.start();
  await run.settle(600_000);
  expect(await ready(half.ports.health)).toContain("[-]caches failed: not yet synced: webapp");
  run.put();
  await run.settle(10_000);
  expect(run.cluster.get(Deployment, { namespace: "default", name: "web" })).toBeUndefined();
  await half.stop();
});

test("a single replica that cannot reach its lease fails its readiness, and is ready again once it can", async () => {
  const run = new ModelRun({ health, leaderElection: { name: "op", namespace: "default", identity: "a" } });
  run.cluster.fault = ({ path }) => (path.includes("/leases") ? 500 : undefined);
  run.manager.add(webapp);
  await run.manager.start();
  await run.settle(10_000);
  expect(await ready(run.manager.ports.health)).toContain("[+]leader-election ok");
  await run.settle(10_000);
  expect(await ready(run.manager.ports.health)).toContain(
    "[-]leader-election failed: no answer about the lease",
  );
  run.cluster.fault = undefined;
  await run.settle(5_000);
  expect(await ready(run.manager.ports.health)).toContain("[+]leader-election ok");
  const stopped = run.manager.stop();
  await run.settle(1_000);
  await stopped;
});

test("stopping takes thirty seconds at most: what has not ended by then is left behind, and said", async () => {
  const run = new ModelRun();
  run.manager.add({
    name: "endless",
    start: () => () => new Promise<void>(() => undefined),
  });
  await run.manager.start();
  await run.settle(100);
  let isStopped = false;
  const stopped = run.manager.stop().then(() => {
    isStopped = true;
  });
  await run.settle(29_999);
  expect(isStopped).toBe(false);
  await run.settle(1);
  await stopped;
  expect(run.lines.at(-1)?.message).toContain("not everything stopped in time");
});
