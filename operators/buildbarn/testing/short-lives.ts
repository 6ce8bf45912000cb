import type { AnyKind } from "@windlass/runtime";
import { Deployment, Pod, StatefulSet, StorageClass } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForCondition } from "@windlass/testing";
import { expect } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  kinds,
} from "../src/index.ts";
import type { Fate } from "./mortal-transport.ts";
import { Replica } from "./replica.ts";
import { StandInScheduler } from "./stand-in-scheduler.ts";
import { WorkerPods } from "./worker-pods.ts";

const wait = { timeout: 60_000 };
const platform = [{ name: "OSFamily", value: "linux" }];
/** How many actions a worker runs at a time. */
export const concurrency = 2;
/** More are for nothing: each life has to bring a change further. */
const mostLives = 400;

/** A control plane on which pods start and stop at once. */
export async function startShortLivedCluster(): Promise<TestCluster> {
  const cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
  const { node } = cluster.controlPlane ?? {};
  // Pods of a Job end at once here. Those that try a configuration run for as long as they may.
  node?.on("*-try-*", { kind: "run" });
  node?.on("storage-*", { kind: "run", linger: "1ms" });
  // The control plane makes a default class only if it finds no class at all.
  await waitFor(cluster.client, StorageClass, { name: "standard" }, () => true);
  await cluster.client.create(StorageClass, {
    metadata: { name: "grows" },
    provisioner: "kubernetes.io/host-path",
    allowVolumeExpansion: true,
  });
  return cluster;
}

/** A set that is well, and an operator that looks after it in one short life after the other. */
export class ShortLives implements AsyncDisposable {
  readonly namespace: string;
  readonly scheduler: StandInScheduler;
  readonly pods: WorkerPods;
  /** What each life ended by. */
  readonly ends: string[] = [];
  readonly #cluster: TestCluster;
  readonly #replica: Replica;

  private constructor(cluster: TestCluster, namespace: string, scheduler: StandInScheduler) {
    this.#cluster = cluster;
    this.namespace = namespace;
    this.scheduler = scheduler;
    this.pods = new WorkerPods(cluster.client, namespace, scheduler, concurrency);
    this.#replica = new Replica(
      cluster,
      [namespace],
      {},
      { queueAddress: () => scheduler.address, pollMs: 50, noticeMs: 100 },
    );
  }

  static async start(cluster: TestCluster): Promise<ShortLives> {
    const queue = { instanceNamePrefix: "", platform, sizeClass: 0 };
    const namespace = await cluster.createNamespace();
    const own = new ShortLives(cluster, namespace, await StandInScheduler.start(queue));
    await own.#replica.start();
    const ac = { volume: { size: "1Gi", storageClassName: "grows" } };
    await own.create(BuildbarnStorage, "storage", { resharding: { hold: "100ms" }, ac });
    await own.create(BuildbarnScheduler, "scheduler");
    await own.create(BuildbarnFrontend, "frontend", { replicas: 1 });
    await own.create(BuildbarnWorker, "worker", { replicas: 3, platform, concurrency });
    await own.ready();
    await own.until(() => own.scheduler.pods().length === 3);
    await own.#replica.stop();
    return own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replica.stop();
    await this.pods[Symbol.asyncDispose]();
    await this.scheduler[Symbol.asyncDispose]();
  }

  get client() {
    return this.#cluster.client;
  }

  key(name: string) {
    return { namespace: this.namespace, name };
  }

  create(kind: AnyKind, name: string, spec: object = {}) {
    return this.client.create<AnyKind>(kind, {
      metadata: this.key(name),
      spec: { minReadySeconds: 0, ...spec },
    });
  }

  patch(kind: AnyKind, name: string, spec: object) {
    return this.client.patch<AnyKind>(kind, this.key(name), { type: "merge", patch: { spec } });
  }

  /** Resolves once all of the set is well. */
  async ready(): Promise<void> {
    for (const [kind, name] of [
      [BuildbarnStorage, "storage"],
      [BuildbarnFrontend, "frontend"],
      [BuildbarnWorker, "worker"],
      [BuildbarnScheduler, "scheduler"],
    ] as const)
      await waitForCondition(this.client, kind, this.key(name), "Ready", "True", wait);
  }

  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    await expect.poll(holds, { timeout: wait.timeout, interval: 10 }).toBe(true);
  }

  /** Gives the operator short lives until what is awaited has come. Looks after each of them. */
  async liveUntil(fate: Fate, goal: Promise<unknown>, look: () => void | Promise<void>): Promise<void> {
    const reached = goal.then(() => undefined);
    for (;;) {
      const { died } = await this.#replica.startFor(fate);
      const end = await Promise.race([reached, died]);
      this.#replica.kill();
      if (end === undefined) return;
      this.ends.push(end);
      expect(this.ends.length, `the last lives ended by ${this.ends.slice(-5).join("; ")}`).toBeLessThan(
        mostLives,
      );
      await look();
    }
  }

  /** Lets the operator live until all is well. */
  async settle(holds: () => boolean | Promise<boolean> = () => true): Promise<void> {
    await this.#replica.start();
    await this.ready();
    await this.until(holds);
    await this.#replica.stop();
  }

  /** Lets the operator live until the scheduler has a drain. */
  async settleDrain(pod: string): Promise<void> {
    await this.#replica.start();
    await this.until(() => this.scheduler.drains.has(pod));
    await this.#replica.stop();
  }

  /** Resolves once blobs are placed on a layout. */
  storageHas(layout: string): Promise<unknown> {
    return waitFor(
      this.client,
      BuildbarnStorage,
      this.key("storage"),
      ({ status }) =>
        status?.resharding?.phase === "Stable" &&
        layout === (status.resharding.layout?.to ?? String(status.resharding.to)),
      wait,
    );
  }

  /** Resolves once as many workers are asked for. */
  workersAre(count: number): Promise<unknown> {
    return waitFor(this.client, Deployment, this.key("worker"), ({ spec }) => spec?.replicas === count, wait);
  }

  /** How many pods each StatefulSet of the shards is to have. */
  async shards() {
    const { items } = await this.client.list(StatefulSet, { namespace: this.namespace });
    const count = (name: string) => items.find(({ metadata }) => metadata.name === name)?.spec?.replicas ?? 0;
    return { a: count("storage"), b: count("storage-b") };
  }

  /** What a Deployment makes its pods of. */
  async template(name: string) {
    return (await this.client.get(Deployment, this.key(name))).spec?.template;
  }

  /** The pods of a component, by their UIDs. */
  async podsOf(component: string): Promise<readonly string[]> {
    const { items } = await this.client.list(Pod, {
      namespace: this.namespace,
      labelSelector: `component=${component}`,
    });
    return items.map(({ metadata }) => metadata.uid ?? "").toSorted();
  }
}
