import { execFileSync } from "node:child_process";
import { sleep, systemClock } from "@windlass/clock";
import type { NamespacedKey } from "@windlass/runtime";
import { Pod } from "@windlass/runtime/kinds";
import { waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BuildKitWorker, isClaimable, type Worker } from "../../operators/buildkit/src/index.ts";
import { build, startBuild } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** Real builds by the real clients, through gateways in pods, on workers in pods. */
let operator: LabOperator;
let namespace: string;

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const told = (what: string, figure: string) => process.stdout.write(`  ${what}: ${figure}\n`);
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const workerOf = ({ pool, workerName }: Allocated): NamespacedKey => ({
  namespace: pool.namespace,
  name: workerName,
});
const worker = (key: NamespacedKey, until: (one: Worker) => unknown, timeout = 60_000) =>
  waitFor(operator.client, BuildKitWorker, key, (one) => (until(one) ? one : undefined), { timeout });
/** A step that no cache has, which lasts so long. */
const lasting = (secs: number) => `RUN echo ${crypto.randomUUID()} && /bin/busybox sleep ${secs}`;

describe.each(["privileged", "rootless"] as const)("%s workers", (profile) => {
  const key = () => ({ namespace, name: profile });

  beforeAll(async () => {
    await operator.createPool(namespace, profile, {
      profile,
      scaling: { min: 1, max: 3, scaleDownDelay: "30s" },
    });
  }, 300_000);
  afterAll(() => operator.deletePool(key()), 300_000);

  test.each(["buildctl", "buildx"] as const)("%s builds through the gateway", async (tool) => {
    const allocated = await operator.allocate(key());
    const end = await build(operator.client, allocated, { tool, steps: [lasting(0), "RUN echo two"] });
    expect(end.output).toContain("two");
    expect(end.code).toBe(0);
    told(`${profile}, ${tool}`, seconds(end.ms));
    expect(await operator.release(allocated)).toMatchObject({ status: 200 });
    await worker(workerOf(allocated), isClaimable);
  });

  test("a worker says that it builds, and that it no longer does when the client is killed", async () => {
    const allocated = await operator.allocate(key());
    const running = await startBuild(operator.client, allocated, { steps: [lasting(60)] });
    const { status } = await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
    expect(status).toMatchObject({ activeBuilds: 1, reason: "Building" });
    running.process.kill("SIGKILL");
    await worker(workerOf(allocated), (one) => one.status?.activeBuilds === 0);
    await operator.release(allocated);
    await running.ended;
  });

  test("a client that has released its worker is refused with the reason, by both tools", async () => {
    const allocated = await operator.allocate(key());
    await operator.release(allocated);
    for (const tool of ["buildctl", "buildx"] as const) {
      const end = await build(operator.client, allocated, { tool, steps: ["RUN echo never"] });
      expect(end.code).not.toBe(0);
      expect(end.output).toContain("has been released");
    }
  });
});

test("a pool scales to zero, and back for the next client, while its endpoint stays", async () => {
  const key = { namespace, name: "zero" };
  const made = await operator.createPool(namespace, "zero", { scaling: { max: 2, scaleDownDelay: "1s" } });
  expect(made.status?.phase).toBe("ScaledToZero");
  for (const round of ["first", "second"]) {
    const startedAt = performance.now();
    const allocated = await operator.allocate(key);
    told(`${round} allocation from zero`, seconds(performance.now() - startedAt));
    const end = await build(operator.client, allocated, { steps: [lasting(0)] });
    expect(end).toMatchObject({ code: 0 });
    await operator.release(allocated);
    const { status } = await operator.pool(key, (one) => one.status?.phase === "ScaledToZero");
    expect(status?.endpoint).toBe(made.status?.endpoint);
    expect(
      (
        await operator.client.list(Pod, {
          namespace,
          labelSelector: "app.kubernetes.io/name=buildkit-worker,buildkit.smrt-devops.net/pool=zero",
        })
      ).items,
    ).toHaveLength(0);
  }
  await operator.deletePool(key);
});

test("a build goes on past the end of its allocation; after that no other client connects, and the worker is deleted", async () => {
  const key = { namespace, name: "expiry" };
  await operator.createPool(namespace, "expiry", { scaling: { min: 1, max: 2 } });
  const allocated = await operator.allocate(key, { ttl: "6s" });
  const running = await startBuild(operator.client, allocated, { steps: [lasting(18), "RUN echo whole"] });
  await worker(workerOf(allocated), (one) => one.status?.drainingSince !== undefined);
  const late = await build(operator.client, allocated, { steps: ["RUN echo never"] });
  expect(late.code).not.toBe(0);
  expect(late.output).toContain("expired");
  const end = await running.ended;
  expect(end.output).toContain("whole");
  expect(end.code).toBe(0);
  const endedAt = performance.now();
  await waitForDeletion(operator.client, BuildKitWorker, workerOf(allocated), { timeout: 60_000 });
  told("build with an allocation of 6 s", seconds(end.ms));
  told("worker gone after its build", seconds(performance.now() - endedAt));
  await operator.deletePool(key);
});

test("a worker whose probe fails in the middle of a build keeps it, and the build ends well", async () => {
  const key = { namespace, name: "unready" };
  const probe = {
    exec: { command: ["sh", "-c", "test ! -e /tmp/unready"] },
    periodSeconds: 1,
    failureThreshold: 1,
  };
  await operator.createPool(namespace, "unready", {
    scaling: { min: 1, max: 1 },
    podTemplate: { spec: { containers: [{ name: "buildkitd", readinessProbe: probe }] } },
  });
  const allocated = await operator.allocate(key);
  const running = await startBuild(operator.client, allocated, { steps: [lasting(25), "RUN echo whole"] });
  await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
  const exec = ["exec", "-n", namespace, allocated.workerName, "-c", "buildkitd", "--"];
  execFileSync("kubectl", [...exec, "touch", "/tmp/unready"]);
  await waitFor(
    operator.client,
    Pod,
    workerOf(allocated),
    ({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "False"),
    { timeout: 30_000 },
  );
  const { uid } = (await operator.client.get(Pod, workerOf(allocated))).metadata;
  const end = await running.ended;
  expect(end.output).toContain("whole");
  expect(end.code).toBe(0);
  expect((await operator.client.get(Pod, workerOf(allocated))).metadata.uid).toBe(uid);
  await operator.release(allocated);
  await operator.deletePool(key);
});

describe("a worker that is lost in the middle of a build", () => {
  const key = () => ({ namespace, name: "lost" });
  // One worker at a time: what is left of the lost one must not count.
  const auth = { rbac: { rules: [{ users: ["system:serviceaccount:*"], maxConcurrent: 1 }] } };
  const scaling = { min: 1, max: 3, failedWorkersKept: 3 };
  beforeAll(() => operator.createPool(namespace, "lost", { scaling, auth }), 300_000);
  afterAll(() => operator.deletePool(key()), 300_000);

  test.each(["buildctl", "buildx"] as const)(
    "%s receives the reason at once, and its job gets a healthy worker, within its limit",
    async (tool) => {
      const job = { jobId: `lost-${tool}` };
      const allocated = await operator.allocate(key(), job);
      const running = await startBuild(operator.client, allocated, { tool, steps: [lasting(120)] });
      await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
      const lostAt = performance.now();
      await operator.killContainer(workerOf(allocated), "buildkitd");
      const end = await running.ended;
      const toldAfter = performance.now() - lostAt;
      expect(end.code).not.toBe(0);
      expect(end.output).toMatch(new RegExp(`worker ${allocated.workerName} is lost`));
      expect(toldAfter).toBeLessThan(10_000);
      told(`${tool} reported a lost worker after`, seconds(toldAfter));
      const again = await build(operator.client, allocated, { tool, steps: ["RUN echo never"] });
      expect(again.output).toMatch(/allocate (a worker again|another)/);
      // Until the kubelet has reported that the container ended, the job is given what it had.
      const next = await vi.waitFor(
        async () => {
          const one = await operator.allocate(key(), job);
          expect(one.workerName).not.toBe(allocated.workerName);
          return one;
        },
        { timeout: 15_000, interval: 200 },
      );
      told("lost until its job had another worker", seconds(performance.now() - lostAt));
      expect(await build(operator.client, next, { tool, steps: [lasting(0)] })).toMatchObject({ code: 0 });
      told("lost until the next build had ended", seconds(performance.now() - lostAt));
      await operator.release(next);
    },
  );
});

test("a worker that is emptied on release has no cache of the client before", async () => {
  const key = { namespace, name: "pruned" };
  await operator.createPool(namespace, "pruned", { scaling: { min: 1, max: 1, pruneOnRelease: true } });
  const steps = [`RUN echo ${crypto.randomUUID()}`];
  const cached: boolean[] = [];
  for (let round = 0; round < 2; round++) {
    const allocated = await operator.allocate(key);
    for (let turn = 0; turn < 2; turn++) {
      const end = await build(operator.client, allocated, { tool: "buildctl", steps });
      expect(end.code).toBe(0);
      cached.push(end.output.includes("CACHED"));
    }
    await operator.release(allocated);
    await worker(workerOf(allocated), isClaimable);
  }
  expect(cached).toEqual([false, true, false, true]);
  await operator.deletePool(key);
});

test("an allocation that an administrator revokes is cut within 2 s, with the reason", async () => {
  const key = { namespace, name: "revoked" };
  await operator.createPool(namespace, "revoked", {
    scaling: { min: 1, max: 1 },
    gateway: { replicas: 2, drainTimeout: "60s" },
  });
  const allocated = await operator.allocate(key);
  const running = await startBuild(operator.client, allocated, { steps: [lasting(60)] });
  await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
  const boss = await operator.token(operator.namespace, "boss");
  const other = await operator.token(namespace, "other");
  const release = (token: string) =>
    operator.ask("POST", "/api/v1/workers/release", { token, body: { token: allocated.token } });
  expect(await release(other)).toMatchObject({ status: 403 });
  const revokedAt = performance.now();
  expect(await release(boss)).toMatchObject({ status: 200 });
  const end = await running.ended;
  const cutAfter = performance.now() - revokedAt;
  told("cut after revocation", seconds(cutAfter));
  expect(end.code).not.toBe(0);
  expect(end.output).toContain(`released by system:serviceaccount:${operator.namespace}:boss`);
  expect(cutAfter).toBeLessThan(2_000);
  const again = await build(operator.client, allocated, { tool: "buildx", steps: ["RUN echo never"] });
  expect(again.output).toContain("was revoked");
  await operator.deletePool(key);
});

test("a client that leaves the queue, or falls silent, leaves nothing behind", async () => {
  const key = { namespace, name: "silent" };
  await operator.createPool(namespace, "silent", { scaling: { min: 1, max: 1, scaleDownDelay: "1s" } });
  const first = await operator.allocate(key);
  const token = await operator.token(namespace);
  const gone = new AbortController();
  const waiting = operator.ask("POST", "/api/v1/workers/allocate", {
    token,
    body: { poolName: "silent", namespace },
    signal: gone.signal,
  });
  await operator.pool(key, (one) => one.status?.queue?.length === 1);
  gone.abort();
  await expect(waiting).rejects.toThrow();
  await operator.pool(key, (one) => one.status?.queue?.length === 0);
  await operator.release(first);
  const { spec } = await worker(workerOf(first), isClaimable);
  await sleep(systemClock, 1_000);
  expect(spec.allocation).toBeUndefined();
  await operator.deletePool(key);
});

test("an unused allocation is released, and one in use is not", async () => {
  const key = { namespace, name: "unused" };
  await operator.createPool(namespace, "unused", {
    scaling: { min: 1, max: 1 },
    gateway: { idleTimeout: "5s", drainTimeout: "60s" },
  });
  const allocated = await operator.allocate(key);
  const end = await build(operator.client, allocated, { steps: [lasting(12), "RUN echo whole"] });
  expect(end).toMatchObject({ code: 0 });
  const endedAt = performance.now();
  await worker(workerOf(allocated), ({ spec }) => spec.allocation === undefined);
  told("released after its last build", seconds(performance.now() - endedAt));
  expect(performance.now() - endedAt).toBeGreaterThan(3_000);
  const late = await build(operator.client, allocated, { steps: ["RUN echo never"] });
  expect(late.output).toContain("has been released");
  await operator.deletePool(key);
});
