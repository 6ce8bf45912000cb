import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Client } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { lab } from "../../operators/buildkit/scripts/image.ts";
import { BuildKitPool, BuildKitWorker } from "../../operators/buildkit/src/index.ts";
import { LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/**
 * More workers than the cluster has room for: an etcd and a kube-apiserver of their own, with pods
 * that are simulated.
 */
const pools = 50;
const workersEach = 10;
/** Of all that the API server is asked while nothing happens. */
const mostRequestsPerSecond = 5;
const watchedMs = 60_000;
const mostMemory = 300 * 1_024 * 1_024;

test("500 idle workers of 50 pools cost next to nothing", { timeout: 900_000 }, async () => {
  process.env.KUBEBUILDER_ASSETS ??= execFileSync(lab, ["assets"], { encoding: "utf8" }).trim();
  await using operator = await LabOperator.start(2, "binaries");
  const { client } = operator;
  const namespace = await operator.createNamespace();
  const scaling = { min: workersEach, max: workersEach, scaleDownDelay: "1h" };
  const startedAt = systemClock.monotonic();
  for (let index = 0; index < pools; index++)
    await client.create(BuildKitPool, { metadata: { namespace, name: `pool-${index}` }, spec: { scaling } });
  const isIdle = async () => {
    const { items } = await client.list(BuildKitWorker, { namespace });
    return items.filter(({ status }) => status?.phase === "Idle").length === pools * workersEach;
  };
  while (!(await isIdle())) await sleep(systemClock, 1_000);
  told("all idle after", `${Math.round((systemClock.monotonic() - startedAt) / 1_000)} s`);
  // What the last of them has brought about comes to its end.
  await sleep(systemClock, 30_000);
  const before = await requestsTo(client);
  const reconcilesBefore = await reconcileTimes(operator);
  await sleep(systemClock, watchedMs);
  const perSecond = ((await requestsTo(client)) - before) / (watchedMs / 1_000);
  const reconciles = (await reconcileTimes(operator)).map(
    (count, index) => count - (reconcilesBefore[index] ?? 0),
  );
  const [inTime = 0, all = 0] = reconciles;
  const memory = await Promise.all(operator.processes.map(memoryOf));
  told("requests a second", perSecond.toFixed(2));
  told("memory of the replicas", memory.map((bytes) => `${Math.round(bytes / 1_048_576)} MiB`).join(", "));
  told("reconciles of a minute, and those within 250 ms", `${all}, ${inTime}`);
  expect(perSecond).toBeLessThan(mostRequestsPerSecond);
  // Each idle worker is asked once a minute whether it still answers.
  expect(all).toBeGreaterThan((pools * workersEach) / 2);
  expect(inTime / all).toBeGreaterThanOrEqual(0.99);
  for (const bytes of memory) expect(bytes).toBeLessThan(mostMemory);
});

const told = (what: string, figure: string) => process.stdout.write(`  ${what}: ${figure}\n`);

/**
 * How many requests the API server has answered, watches that last and this very question left out.
 */
async function requestsTo(client: Client): Promise<number> {
  const { body } = await client.raw({ path: "/metrics" });
  const text = Buffer.concat(await Array.fromAsync(body)).toString();
  const counted = /^apiserver_request_total\{(?!.*verb="(?:WATCH|CONNECT)").*\} (\S+)$/gm;
  return [...text.matchAll(counted)].reduce((total, [, count]) => total + Number(count), 0);
}

/** How many reconciles there were within 250 ms, and in all. */
async function reconcileTimes(operator: LabOperator): Promise<readonly [number, number]> {
  const texts = await Promise.all(operator.processes.map((_, index) => operator.metrics(index)));
  const counted = (pattern: RegExp) =>
    [...texts.join("\n").matchAll(pattern)].reduce((total, [, count]) => total + Number(count), 0);
  const name = "controller_runtime_reconcile_time_seconds";
  return [
    counted(new RegExp(`^${name}_bucket\\{(?=.*le="0\\.25").*\\} (\\S+)$`, "gm")),
    counted(new RegExp(`^${name}_count\\{.*\\} (\\S+)$`, "gm")),
  ];
}

/** What a process has in memory, in bytes. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}
