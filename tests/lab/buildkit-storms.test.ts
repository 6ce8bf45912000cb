import { execFileSync } from "node:child_process";
import { Lease } from "@windlass/runtime/kinds";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { BuildKitRequest, BuildKitWorker, type Worker } from "../../operators/buildkit/src/index.ts";
import { type BuildEnd, build } from "../../operators/buildkit/testing/gateway-build.ts";
import { allocatedOf, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** Many clients at once, while replicas of the operator and gateways come and go. */
let operator: LabOperator;
let namespace: string;

beforeAll(async () => {
  operator = await LabOperator.start(3);
  namespace = await operator.createNamespace();
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 600_000);
// A test that fails leaves the next one a quiet machine.
afterEach(() => operator.deletePools(), 300_000);

const report = (what: string, figure: string | number) => process.stdout.write(`  ${what}: ${figure}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

test("20 builds at once end well while gateway and operator are restarted, each replica in its turn", async () => {
  const key = { namespace, name: "rolling" };
  await operator.createPool(namespace, "rolling", {
    scaling: { min: 5, max: 20, scaleDownDelay: "10m" },
    gateway: { replicas: 2, drainTimeout: "5m", resources: { cpu: "1", memory: "512Mi" } },
  });
  const startedAt = performance.now();
  let restarted = false;
  const steps = () => [
    `RUN echo ${crypto.randomUUID()} && /bin/busybox sleep 10`,
    "RUN /bin/busybox sleep 5 && echo second",
    "RUN /bin/busybox sleep 5 && echo whole",
  ];
  const oneBuild = async (index: number): Promise<BuildEnd> => {
    const tool = index % 2 === 0 ? "buildctl" : "buildx";
    const allocated = await operator.allocate(key);
    const end = await build(operator.client, allocated, { tool, steps: steps() });
    expect(await operator.release(allocated)).toMatchObject({ status: 200 });
    return end;
  };
  /** Restarts everything until all builds are done. */
  const restart = async () => {
    const rollout = (...args: string[]) =>
      execFileSync("kubectl", ["rollout", ...args, "-n", namespace, "deployment/rolling-gateway"], {
        stdio: "ignore",
      });
    let rounds = 0;
    while (!restarted) {
      rollout("restart");
      for (let index = 0; index < operator.replicas && !restarted; index++) {
        await operator.stop(index);
        await operator.revive(index);
        await pause(500);
      }
      rounds++;
      await pause(5_000);
    }
    return rounds;
  };
  const restarting = restart();
  // The builds begin over some seconds, so that some are in every state when something restarts.
  const ends = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await pause(index * 500);
      return await oneBuild(index);
    }),
  );
  restarted = true;
  const rounds = await restarting;
  const failed = ends.filter(({ code }) => code !== 0);
  report("builds", ends.length);
  report("of those failed", failed.length);
  report("rolling restarts of gateway and operator meanwhile", rounds);
  report("all done after", `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  expect(failed.map(({ output }) => output.slice(-2_000))).toEqual([]);
  for (const { output } of ends) expect(output).toContain("whole");
}, 600_000);

test("200 clients at once on 20 workers, while replicas of the API are killed: no worker is given twice, none is lost", async () => {
  const key = { namespace, name: "storm" };
  await operator.createPool(namespace, "storm", { scaling: { min: 0, max: 20, scaleDownDelay: "10m" } });
  const token = await operator.token(namespace);
  const mistakes: string[] = [];
  const seen = new Map<string, Worker>();
  const holders = new Map<string, string>();
  const watching = new AbortController();
  let mostWorkers = 0;
  let mostHeld = 0;
  /** What every state of the cluster must satisfy, as the watch brings them. */
  const watched = (async () => {
    const { items, metadata } = await operator.client.list(BuildKitWorker, { namespace });
    for (const one of items) seen.set(one.metadata.name, one);
    const events = operator.client.watch(BuildKitWorker, {
      namespace,
      resourceVersion: metadata.resourceVersion ?? "",
      signal: watching.signal,
    });
    for await (const event of events) {
      if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
      const worker = event.object as Worker;
      const { name } = worker.metadata;
      if (event.type === "DELETED") seen.delete(name);
      else seen.set(name, worker);
      const before = holders.get(name);
      const hash = worker.spec.allocation?.tokenHash;
      // A claim is taken off before another is put on: no two follow each other.
      if (before !== undefined && hash !== undefined && before !== hash)
        mistakes.push(`${name} went from one allocation straight to another`);
      if (hash === undefined) holders.delete(name);
      else holders.set(name, hash);
      const held = [...seen.values()].flatMap(({ spec }) => spec.allocation?.tokenHash ?? []);
      if (new Set(held).size !== held.length) mistakes.push("an allocation is on two workers");
      mostWorkers = Math.max(mostWorkers, seen.size);
      mostHeld = Math.max(mostHeld, held.length);
    }
  })().catch((error: unknown) => {
    if (!watching.signal.aborted) mistakes.push(String(error));
  });
  const live = new Map<string, string>();
  const waits: number[] = [];
  const client = async (index: number) => {
    const jobId = `job-${index}`;
    const startedAt = performance.now();
    const ask = () =>
      operator.ask("POST", "/api/v1/workers/allocate", {
        token,
        // Shorter than a replica lives here: longer calls would be cut, each time.
        body: { poolName: "storm", namespace, jobId, wait: "3s" },
      });
    let answer = await ask();
    while (answer.status === 202 || answer.status === 503) answer = await ask();
    if (answer.status !== 200)
      throw new Error(`job ${index}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const allocated = allocatedOf(key, answer);
    waits.push(performance.now() - startedAt);
    const other = live.get(allocated.workerName);
    if (other !== undefined) mistakes.push(`${allocated.workerName} has ${other} and ${jobId}`);
    live.set(allocated.workerName, jobId);
    // Asked again, by whatever replica, it is the same one.
    const again = allocatedOf(key, await ask());
    if (again.token !== allocated.token || again.workerName !== allocated.workerName)
      mistakes.push(`${jobId} was given ${allocated.workerName} and ${again.workerName}`);
    await pause(300);
    live.delete(allocated.workerName);
    const released = await operator.release(allocated);
    // The answer to the first try may have been lost with its replica.
    if (released.status !== 200 && released.status !== 404) mistakes.push(`release: ${released.status}`);
  };
  let isOver = false;
  let kills = 0;
  const mostKills = 15;
  const killing = (async () => {
    while (!isOver && kills < mostKills) {
      const index = kills % operator.replicas;
      await operator.kill(index);
      await operator.revive(index);
      kills++;
      // Each lives for longer than the lease of the one before it, so that there is a leader now
      // and then.
      await pause(5_000);
    }
  })();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 200 }, (_, index) => client(index)));
  isOver = true;
  await killing;
  await expect
    .poll(
      async () => {
        const { items } = await operator.client.list(BuildKitWorker, { namespace });
        return items.every(({ spec, status }) => spec.allocation === undefined && status?.phase === "Idle");
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(true);
  watching.abort();
  await watched;
  report("clients served", waits.length);
  report("replicas killed meanwhile", kills);
  report("most workers at a time", mostWorkers);
  report("most allocations at a time", mostHeld);
  report(
    "waited for a worker, median and longest",
    `${(quantile(waits, 0.5) / 1_000).toFixed(1)} s, ${(quantile(waits, 1) / 1_000).toFixed(1)} s`,
  );
  report("all done after", `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  expect(mistakes).toEqual([]);
  expect(waits).toHaveLength(200);
  expect(mostWorkers).toBe(20);
  expect(mostHeld).toBe(20);
  const { items: requests } = await operator.client.list(BuildKitRequest, { namespace });
  expect(requests).toEqual([]);
  // No replica holds a lock that one which is killed could leave behind.
  const { items: locks } = await operator.client.list(Lease, { namespace });
  expect(locks.map(({ metadata }) => metadata.name)).toEqual([]);
}, 900_000);
