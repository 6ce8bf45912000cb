/**
 * Starts control planes by the hundred and says, as one line of JSON, what is left of them. Run
 * with `--expose-gc`, in a process of its own: what other tests hold would be counted too.
 */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { setImmediate } from "node:timers/promises";
import { accessFor, Client, openTransport, parseKubeconfig } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { manager, silentLogger } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Deployment } from "@windlass/runtime/kinds";
import { Site, site } from "./site.fixture.ts";
import { waitForCondition } from "./wait.ts";

/** What is alive besides the process's own. */
export interface Remains {
  readonly heapBytes: number;
  readonly externalBytes: number;
  /** Sockets, servers, timers and requests that would keep the process from ending, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /**
   * Files, sockets and pipes that are open, and the process's threads. 0 where the system does not
   * tell.
   */
  readonly descriptors: number;
  readonly threads: number;
  /** What is in the folder for temporary files, which must be this process's own. */
  readonly temporaryFiles: readonly string[];
}

/**
 * What was alive before anything was counted, after 200 control planes in a row, and after 20 more
 * at once.
 */
export interface LeakReport {
  readonly before: Remains;
  readonly oneByOne: Remains;
  readonly atOnce: Remains;
}

const key = { namespace: "default", name: "x" };
const labels = { app: "y" };
const deployment = {
  metadata: { ...key, name: "y" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx:1.25" }] } },
  },
};

/**
 * A short life: a client in this process and one over HTTPS, pods, watches that are never ended,
 * and now and then an operator.
 */
async function live(number: number): Promise<void> {
  await using plane = await ControlPlane.start();
  const near = new Client({ transport: plane.connect() });
  const config = await parseKubeconfig(await plane.kubeconfig(), "kubeconfig");
  await using far = new Client({ transport: openTransport(accessFor(config)) });
  await near.create(CustomResourceDefinition, Site.crd());
  await near.create(Deployment, deployment);
  await far.create(ConfigMap, { metadata: key, data: { x: "1" } });
  await far.get(ConfigMap, key);
  if (number % 5 === 0) await runOperator(near);
  for (const client of [near, far]) {
    const events = client.watch(ConfigMap, { namespace: "default" });
    await events.next();
  }
}

async function runOperator(client: Client): Promise<void> {
  const operator = manager({
    client,
    log: silentLogger,
    health: false,
    metrics: false,
    leaderElection: { name: "site", namespace: "default" },
  }).add(site);
  await operator.start();
  await client.create(Site, { metadata: key, spec: { image: "nginx:1.25" } });
  await waitForCondition(client, Site, key, "Ready");
  await operator.stop();
}

async function remains(): Promise<Remains> {
  const { gc } = globalThis;
  if (!gc) throw new Error("run this with --expose-gc");
  for (let i = 0; i < 10; i++) await setImmediate();
  await gc({ execution: "async", type: "major" });
  await gc({ execution: "async", type: "major" });
  const { heapUsed, external } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  return {
    heapBytes: heapUsed,
    externalBytes: external,
    resources,
    descriptors: countOf("fd"),
    threads: countOf("task"),
    temporaryFiles: readdirSync(tmpdir()),
  };
}

function countOf(what: "fd" | "task"): number {
  return process.platform === "linux" ? readdirSync(`/proc/self/${what}`).length : 0;
}

for (let i = 0; i < 30; i++) await live(i);
const before = await remains();
for (let i = 0; i < 200; i++) await live(i);
const oneByOne = await remains();
await Promise.all(Array.from({ length: 20 }, (_, number) => live(number)));
const atOnce = await remains();
const report: LeakReport = { before, oneByOne, atOnce };
process.stdout.write(`${JSON.stringify(report)}\n`);
