import { execFileSync } from "node:child_process";
import type { NamespacedKey } from "@windlass/runtime";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lab } from "../../operators/buildkit/scripts/image.ts";
import { BuildKitWorker, type Worker } from "../../operators/buildkit/src/index.ts";
import { build, startBuild } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** What happens to builds when their node, or the control plane, has trouble. */
let operator: LabOperator;
let namespace: string;

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const told = (what: string, ms: number) => process.stdout.write(`  ${what}: ${(ms / 1_000).toFixed(2)} s\n`);
const workerOf = ({ pool, workerName }: Allocated): NamespacedKey => ({
  namespace: pool.namespace,
  name: workerName,
});
const worker = (key: NamespacedKey, until: (one: Worker) => unknown, timeout = 120_000) =>
  waitFor(operator.client, BuildKitWorker, key, (one) => (until(one) ? one : undefined), { timeout });
/** A step that no cache has. */
const step = (command: string) => `RUN echo ${crypto.randomUUID()} && ${command}`;

test("a worker whose disk is full is evicted: its client is notified, and the next allocation is another worker", {
  timeout: 300_000,
}, async () => {
  const key = { namespace, name: "full" };
  await operator.createPool(namespace, "full", {
    scaling: { min: 1, max: 2 },
    resources: {
      buildkit: {
        requests: { cpu: "10m", memory: "32Mi" },
        limits: { "ephemeral-storage": "150Mi" },
      },
    },
  });
  const allocated = await operator.allocate(key);
  const filling = step("/bin/busybox dd if=/dev/zero of=/large bs=1M count=300 && /bin/busybox sleep 240");
  const startedAt = performance.now();
  const running = await startBuild(operator.client, allocated, { steps: [filling] });
  await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
  const end = await running.ended;
  told("evicted and told after", performance.now() - startedAt);
  expect(end.code).not.toBe(0);
  expect(end.output).toMatch(new RegExp(`worker ${allocated.workerName} is lost`));
  const next = await operator.allocate(key);
  expect(next.workerName).not.toBe(allocated.workerName);
  expect(await build(operator.client, next, { steps: [step("echo small")] })).toMatchObject({ code: 0 });
  const { status } = await worker(workerOf(allocated), (one) => one.status?.phase === "Failed");
  expect(`${status?.reason}: ${status?.message}`).toMatch(/Evicted|ephemeral/);
  await operator.release(next);
  await operator.deletePool(key);
});

test("builds go on while kubelet, containerd and the API server are killed, each in its turn", {
  timeout: 600_000,
}, async () => {
  const key = { namespace, name: "shaken" };
  await operator.createPool(namespace, "shaken", { scaling: { min: 2, max: 3 } });
  const steps = [step("/bin/busybox sleep 60"), "RUN echo whole"];
  const builds = await Promise.all(
    (["buildctl", "buildx"] as const).map(async (tool) => {
      const allocated = await operator.allocate(key);
      return { allocated, running: await startBuild(operator.client, allocated, { tool, steps }) };
    }),
  );
  for (const { allocated } of builds)
    await worker(workerOf(allocated), (one) => one.status?.phase === "Running");
  for (const part of ["kubelet", "containerd", "kube-apiserver"])
    execFileSync(lab, ["restart", part, "--signal", "KILL", "--wait", "3"], { stdio: "ignore" });
  for (const { allocated, running } of builds) {
    const end = await running.ended;
    expect(end.output).toContain("whole");
    expect(end.code).toBe(0);
    expect(await operator.release(allocated)).toMatchObject({ status: 200 });
  }
  const next = await operator.allocate(key);
  expect(await build(operator.client, next, { steps: [step("echo again")] })).toMatchObject({ code: 0 });
  await operator.release(next);
  await operator.deletePool(key);
});
