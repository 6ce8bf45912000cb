import type { Client } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import { allocatedOf, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";
import { findAssets } from "./real-server.ts";
import type { Result } from "./table.ts";

/** How many clients come in a second. */
const rate = 50;
const mostWorkers = 60;
/**
 * How long a client keeps its worker. It is idle again once buildkitd has said that it builds
 * nothing.
 */
const holdMs = 200;
/** What is aimed at, of the slowest in a hundred. */
const aimMs = 150;

interface Figures {
  readonly latencies: number[];
  readonly releases: number[];
  waited: number;
  failed: number;
}

/**
 * How long clients wait for a worker of a warm pool: each comes at its own time, whether those
 * before it were served or not, over a connection of its own, and gives its worker back. On the
 * cluster of KUBECONFIG with real buildkitd; without, on an etcd and a kube-apiserver from
 * KUBEBUILDER_ASSETS or the lab, with workers that are simulated.
 */
export async function run({ objects: clients = 1_000 }: { readonly objects?: number }): Promise<Result> {
  const on = process.env.KUBECONFIG ? "cluster" : "binaries";
  if (on === "binaries") process.env.KUBEBUILDER_ASSETS = findAssets();
  await using operator = await LabOperator.start(2, on);
  const warmWorkers = Math.min(mostWorkers, clients);
  const namespace = await operator.createNamespace();
  const pool = { namespace, name: "warm" };
  await operator.createPool(namespace, pool.name, {
    scaling: { min: warmWorkers, max: warmWorkers, scaleDownDelay: "1h" },
  });
  const isWarm = () => operator.pool(pool, ({ status }) => status?.workers?.idle === warmWorkers, 600_000);
  await isWarm();
  const token = await operator.token(namespace);
  const figures: Figures = { latencies: [], releases: [], waited: 0, failed: 0 };
  const client = async () => {
    const startedAt = systemClock.monotonic();
    const body = { poolName: pool.name, namespace, wait: "60s" };
    const answer = await operator.ask("POST", "/api/v1/workers/allocate", { token, body });
    if (answer.status === 202) figures.waited++;
    else if (answer.status !== 200) figures.failed++;
    if (answer.status !== 200) return;
    figures.latencies.push(systemClock.monotonic() - startedAt);
    await sleep(systemClock, holdMs);
    const releasedAt = systemClock.monotonic();
    await operator.release(allocatedOf(pool, answer));
    figures.releases.push(systemClock.monotonic() - releasedAt);
  };
  // The first ones warm everything up, and do not count.
  await arrivals(Math.min(clients, 100), client);
  await isWarm();
  Object.assign(figures, { latencies: [], releases: [], waited: 0, failed: 0 });
  const before = await writesTo(operator.client);
  await arrivals(clients, client);
  await isWarm();
  const writes = ((await writesTo(operator.client)) - before) / clients;
  return result(figures, { clients, warmWorkers, writes, on });
}

/** How many writes of workers, requests and pods the API server has taken. */
async function writesTo(client: Client): Promise<number> {
  const { body } = await client.raw({ path: "/metrics" });
  const text = Buffer.concat(await Array.fromAsync(body)).toString();
  const counted =
    /^apiserver_request_total\{(?=.*resource="(?:buildkit\w+|pods|events|leases)")(?=.*verb="(?:POST|PUT|PATCH|APPLY|DELETE)").*\} (\S+)$/gm;
  return [...text.matchAll(counted)].reduce((total, [, count]) => total + Number(count), 0);
}

/** Has clients come at the rate, and waits for the last of them. */
async function arrivals(count: number, client: () => Promise<void>): Promise<void> {
  const startedAt = systemClock.monotonic();
  const all: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const dueMs = startedAt + (index * 1_000) / rate - systemClock.monotonic();
    if (dueMs > 0) await sleep(systemClock, dueMs);
    all.push(client());
  }
  await Promise.all(all);
}

interface Run {
  readonly clients: number;
  readonly warmWorkers: number;
  /** For each client. */
  readonly writes: number;
  readonly on: "cluster" | "binaries";
}

function result(
  { latencies, releases, waited, failed }: Figures,
  { clients, warmWorkers, writes, on }: Run,
): Result {
  const ms = (what: string, values: readonly number[], share: number) =>
    ({ what, unit: "ms", ours: quantile(values, share), better: "less" }) as const;
  return {
    // A cluster's figures are kept beside those of bare binaries.
    name: on === "cluster" ? "allocation-cluster" : "allocation",
    peer: "–",
    rows: [
      ms("allocate on a warm pool, median", latencies, 0.5),
      ms("allocate on a warm pool, p95", latencies, 0.95),
      ms(`allocate on a warm pool, p99 (aim: under ${aimMs})`, latencies, 0.99),
      ms("allocate on a warm pool, slowest", latencies, 1),
      ms("release, p99", releases, 0.99),
      { what: "writes to the API server, per client", unit: "", ours: writes, better: "less" },
      { what: "clients that were not served", unit: "", ours: waited + failed, better: "less" },
    ],
    notes: [
      `${clients} clients, ${rate} a second, each over a TLS connection of its own; ${warmWorkers} workers, each kept for ${holdMs} ms; two replicas of the operator.`,
      on === "cluster"
        ? "Real buildkitd. API server, etcd, kubelet, operator, workers and clients share the machine's cores."
        : "Simulated workers on a bare kube-apiserver, which shares the machine's cores with etcd, operator and clients.",
    ],
  };
}

function quantile(values: readonly number[], share: number): number {
  return (
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
  );
}
