import { Deployment, Pod } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Replica } from "../../testing/replica.ts";
import { everyPod, StandInScheduler } from "../../testing/stand-in-scheduler.ts";
import { WorkerPods } from "../../testing/worker-pods.ts";
import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  kinds,
} from "../index.ts";
import { deletionCostAnnotation, drainingAnnotation } from "./drain-marks.ts";

const concurrency = 2;
const platform = [{ name: "OSFamily", value: "linux" }];
const wait = { timeout: 20_000 };
/** Some of it takes seconds by its nature, and more on a busy machine. */
const slow = { timeout: 60_000 };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
  // Pods of a Job end at once here. Those that try a configuration run for as long as they may.
  cluster.controlPlane?.node.on("*-try-*", { kind: "run" });
}, 60_000);
afterAll(() => cluster.close());

let namespace: string;
let replica: Replica;
let scheduler: StandInScheduler;
let pods: WorkerPods;
beforeEach(async () => {
  const { client } = cluster;
  namespace = await cluster.createNamespace();
  scheduler = await StandInScheduler.start({ instanceNamePrefix: "", platform, sizeClass: 0 });
  pods = new WorkerPods(client, namespace, scheduler, concurrency);
  replica = new Replica(
    cluster,
    [namespace],
    {},
    { queueAddress: () => scheduler.address, pollMs: 100, noticeMs: 300, lostNodeMs: 500 },
  );
  await replica.start();
  const metadata = (name: string) => ({ namespace, name });
  await client.create(BuildbarnStorage, { metadata: metadata("storage") });
  await client.create(BuildbarnScheduler, {
    metadata: metadata("scheduler"),
    spec: { minReadySeconds: 0 },
  });
  await client.create(BuildbarnFrontend, { metadata: metadata("frontend") });
});
afterEach(async () => {
  await replica.stop();
  await pods[Symbol.asyncDispose]();
  await scheduler[Symbol.asyncDispose]();
});

const key = () => ({ namespace, name: "worker" });
const create = (spec: object) =>
  cluster.client.create(BuildbarnWorker, { metadata: key(), spec: { platform, concurrency, ...spec } });
const scaleTo = (replicas: number) =>
  cluster.client.patch(
    BuildbarnWorker,
    key(),
    { type: "merge", patch: { spec: { replicas } } },
    { subresource: "scale" },
  );
const ready = () => waitForCondition(cluster.client, BuildbarnWorker, key(), "Ready", "True", wait);
const replicas = (count: number) =>
  waitFor(cluster.client, Deployment, key(), (found) => found.spec?.replicas === count, wait);
/** The pods that are to stay. */
async function live() {
  const { items } = await cluster.client.list(Pod, { namespace, labelSelector: "app=worker" });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(holds, { timeout: 20_000, interval: 20 }).toBe(true);
}

test("workers come up with what the original's have", slow, async () => {
  await create({ replicas: 2 });
  await ready();
  const { spec, metadata } = await cluster.client.get(Deployment, key());
  expect(metadata.ownerReferences?.[0]).toMatchObject({ kind: "BuildbarnWorker", controller: true });
  expect(spec?.selector.matchLabels).toEqual({ app: "worker", instance: "ubuntu22-04", component: "worker" });
  const { containers, initContainers, volumes, terminationGracePeriodSeconds } = spec?.template.spec ?? {
    containers: [],
  };
  expect(initContainers?.map(({ name }) => name)).toEqual(["bb-runner-installer", "volume-init"]);
  expect(volumes?.map(({ name }) => name)).toEqual(["configs", "empty", "worker"]);
  expect(terminationGracePeriodSeconds).toBe(7_500);
  const [worker, runner] = containers;
  expect(worker).toMatchObject({ name: "worker", args: ["/config/worker-ubuntu22-04.jsonnet"] });
  expect(worker?.env?.map(({ name }) => name)).toEqual(["POD_NAME", "NODE_NAME"]);
  expect(runner).toMatchObject({
    name: "runner",
    command: ["/bb/bb_runner", "/config/runner-ubuntu22-04.jsonnet"],
    image: "ghcr.io/catthehacker/ubuntu:act-22.04",
    securityContext: { runAsUser: 65_534, allowPrivilegeEscalation: false },
  });
  expect((await cluster.client.get(BuildbarnWorker, key())).status).toMatchObject({
    state: "Ready",
    replicas: 2,
    readyReplicas: 2,
    selector: "app=worker,component=worker,instance=ubuntu22-04",
  });
});

test(
  "the queue decides: more pods at once, fewer after a while, none in the end, and no action is ended by it",
  slow,
  async () => {
    await create({ autoscaling: { maxReplicas: 5, scaleDownDelay: "300ms" } });
    await replicas(0);
    expect((await ready()).status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", reason: "ScaledToZero" }),
    );
    scheduler.enqueue(7);
    await replicas(4);
    await until(() => scheduler.queued === 0 && scheduler.pods().length === 4);
    // All but one are done.
    const [busy = "", ...others] = scheduler.pods();
    for (const pod of others) scheduler.complete(pod);
    await replicas(1);
    await until(async () => (await live()).length === 1);
    expect((await live()).map(({ metadata }) => metadata.name)).toEqual([busy]);
    scheduler.complete(busy);
    await replicas(0);
    await until(() => scheduler.drains.size === 0 && scheduler.pods().length === 0);
    expect(scheduler.killed).toEqual([]);
    expect([...pods.disturbed]).toEqual([]);
    await waitFor(
      cluster.client,
      BuildbarnWorker,
      key(),
      ({ status }) => status?.draining === undefined,
      wait,
    );
  },
);

test("workers that share a queue share what waits in it", slow, async () => {
  const autoscaling = { maxReplicas: 8, scaleDownDelay: "10m" };
  await cluster.client.create(BuildbarnWorker, {
    metadata: { namespace, name: "other" },
    spec: { platform, concurrency, autoscaling, instance: "other" },
  });
  await create({ autoscaling });
  await replicas(0);
  scheduler.enqueue(4 * concurrency);
  await replicas(2);
  await waitFor(
    cluster.client,
    Deployment,
    { namespace, name: "other" },
    (found) => found.spec?.replicas === 2,
    wait,
  );
});

test("what waits beyond what the most pods can run gets no more than those", slow, async () => {
  await create({ autoscaling: { minReplicas: 1, maxReplicas: 3, scaleDownDelay: "1h" } });
  scheduler.enqueue(500);
  await replicas(3);
  await waitFor(
    cluster.client,
    BuildbarnWorker,
    key(),
    ({ status }) => status?.autoscaling?.desiredReplicas === 3,
    wait,
  );
});

test("kubectl scale takes idle pods first, and waits for the others to end their actions", slow, async () => {
  await create({ replicas: 4 });
  await ready();
  await until(() => scheduler.pods().length === 4);
  scheduler.enqueue(8);
  const [first = "", second = "", third = ""] = scheduler.pods();
  scheduler.complete(first);
  await scaleTo(1);
  // The idle one goes; of the others, two are kept from new actions.
  await replicas(3);
  await until(() => scheduler.drains.size >= 2);
  scheduler.enqueue(4);
  expect(scheduler.queued).toBe(4);
  for (const pod of [second, third]) scheduler.complete(pod);
  for (const pod of scheduler.pods().filter((one) => scheduler.drains.has(one))) scheduler.complete(pod);
  await replicas(1);
  await until(async () => (await live()).length === 1 && scheduler.drains.size === 0);
  expect(scheduler.killed).toEqual([]);
  expect([...pods.disturbed]).toEqual([]);
});

test("pods that are to stay after all get actions again, and lose their marks", slow, async () => {
  await create({ replicas: 3 });
  await ready();
  await until(() => scheduler.pods().length === 3);
  scheduler.enqueue(6);
  await scaleTo(1);
  await until(() => scheduler.drains.size === 2);
  await scaleTo(3);
  await until(() => scheduler.drains.size === 0);
  await until(async () =>
    (await live()).every(
      ({ metadata: { annotations = {} } }) =>
        annotations[drainingAnnotation] === undefined && annotations[deletionCostAnnotation] === undefined,
    ),
  );
  expect(await live()).toHaveLength(3);
});

test("an operator that is killed in the middle of a scale-down goes on where it was", slow, async () => {
  await create({ replicas: 3 });
  await ready();
  await until(() => scheduler.pods().length === 3);
  scheduler.enqueue(6);
  await scaleTo(0);
  await until(() => scheduler.drains.size === 3);
  replica.kill();
  for (const pod of scheduler.pods()) scheduler.complete(pod);
  await replica.start();
  await replicas(0);
  await until(() => scheduler.drains.size === 0 && scheduler.pods().length === 0);
  expect(scheduler.killed).toEqual([]);
});

test(
  "a scheduler that does not answer stops scaling by the queue, and reports it; by hand it still works",
  slow,
  async () => {
    await create({ autoscaling: { minReplicas: 2, maxReplicas: 5 } });
    await replicas(2);
    await scheduler[Symbol.asyncDispose]();
    await waitForCondition(cluster.client, BuildbarnWorker, key(), "AutoscalingActive", "False", wait);
    const { status } = await cluster.client.get(BuildbarnWorker, key());
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "AutoscalingActive",
        reason: "SchedulerUnreachable",
        message: expect.stringMatching(/the number of pods stays: .*127\.0\.0\.1/),
      }),
    );
    await cluster.client.patch(BuildbarnWorker, key(), {
      type: "merge",
      patch: { spec: { autoscaling: null, replicas: 1 } },
    });
    await replicas(1);
  },
);

test("a scheduler that hangs when it is asked to drain is given up soon, and asked again", slow, async () => {
  await create({ autoscaling: { maxReplicas: 5, scaleDownDelay: "1s" } });
  scheduler.enqueue(2);
  await replicas(1);
  await until(() => scheduler.pods().length === 1);
  scheduler.isHanging = true;
  for (const pod of scheduler.pods()) scheduler.complete(pod);
  const hung = await waitForCondition(
    cluster.client,
    BuildbarnWorker,
    key(),
    "AutoscalingActive",
    "False",
    wait,
  );
  expect(hung.status?.conditions).toContainEqual(
    expect.objectContaining({
      reason: "SchedulerUnreachable",
      message: expect.stringContaining("no answer within 5 s"),
    }),
  );
  scheduler.isHanging = false;
  await replicas(0);
  expect(scheduler.killed).toEqual([]);
});

test(
  "a queue that the scheduler does not know keeps one pod, for it comes with its first worker",
  slow,
  async () => {
    scheduler.isKnown = false;
    await create({ autoscaling: { maxReplicas: 5 } });
    await replicas(1);
    await waitForCondition(cluster.client, BuildbarnWorker, key(), "AutoscalingActive", "False", wait);
  },
);

test("a settled resource is not written, though its queue is looked at", slow, async () => {
  await create({ autoscaling: { minReplicas: 1, maxReplicas: 5, scaleDownDelay: "1h" } });
  await ready();
  await waitForCondition(cluster.client, BuildbarnWorker, key(), "AutoscalingActive", "True", wait);
  const looks = scheduler.calls;
  await until(() => scheduler.calls > looks + 3);
  replica.writes = [];
  await until(() => scheduler.calls > looks + 13);
  expect(replica.writes).toEqual([]);
});

test("a resource that is deleted goes when its pods have", slow, async () => {
  await create({ replicas: 2 });
  await ready();
  await cluster.client.delete(BuildbarnWorker, key());
  await waitForDeletion(cluster.client, BuildbarnWorker, key(), wait);
  expect((await cluster.client.list(Pod, { namespace, labelSelector: "app=worker" })).items).toEqual([]);
});

test("pods that never stop, for their node is lost, hold up a deletion only so long", slow, async () => {
  const { client } = cluster;
  await create({ replicas: 1, terminationGracePeriodSeconds: 1 });
  await ready();
  const [pod] = await live();
  const name = pod?.metadata.name ?? "";
  const finalizers = (own: readonly string[] | null) =>
    client.patch(Pod, { namespace, name }, { type: "merge", patch: { metadata: { finalizers: own } } });
  await finalizers(["example.com/lost"]);
  await client.delete(BuildbarnWorker, key());
  await waitForDeletion(client, BuildbarnWorker, key(), wait);
  await waitFor(
    client,
    Pod,
    { namespace, name },
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
    wait,
  );
  await finalizers(null);
});

test("a set leaves the number of its workers to others, unless it sets one itself", slow, async () => {
  const { client } = cluster;
  const metadata = { namespace, name: "set" };
  await client.create(BuildbarnCluster, { metadata, spec: { workers: [{ name: "linux" }] } });
  const name = { namespace, name: "set-linux" };
  const count = (wanted: number) =>
    waitFor(client, BuildbarnWorker, name, ({ spec }) => spec.replicas === wanted, wait);
  await count(8);
  await client.patch(
    BuildbarnWorker,
    name,
    { type: "merge", patch: { spec: { replicas: 3 } } },
    { subresource: "scale" },
  );
  // A change of something else has the set written again.
  const workers = (own: object) =>
    ({ type: "merge", patch: { spec: { workers: [{ name: "linux", ...own }] } } }) as const;
  await client.patch(BuildbarnCluster, metadata, workers({ concurrency: 5 }));
  await waitFor(client, BuildbarnWorker, name, ({ spec }) => spec.concurrency === 5, wait);
  await count(3);
  await client.patch(BuildbarnCluster, metadata, workers({ replicas: 2 }));
  await count(2);
  const frontend = { namespace, name: "set-frontend" };
  await client.patch(
    BuildbarnFrontend,
    frontend,
    { type: "merge", patch: { spec: { replicas: 5 } } },
    { subresource: "scale" },
  );
  const patch = { spec: { frontend: { serviceType: "ClusterIP" } } } as const;
  await client.patch(BuildbarnCluster, metadata, { type: "merge", patch });
  await waitFor(client, BuildbarnFrontend, frontend, ({ spec }) => spec.serviceType === "ClusterIP", wait);
  expect((await client.get(BuildbarnFrontend, frontend)).spec.replicas).toBe(5);
});

/** Another platform is another queue: the scheduler has to restart for it. */
const another = () =>
  cluster.client.create(BuildbarnWorker, {
    metadata: { namespace, name: "another" },
    spec: { platform: [{ name: "OSFamily", value: "windows" }], replicas: 0 },
  });
const schedulerIs = (reason: string) =>
  waitFor(
    cluster.client,
    BuildbarnScheduler,
    { namespace, name: "scheduler" },
    ({ status }) => status?.conditions?.some((one) => one.type === "Ready" && one.reason === reason),
    wait,
  );
const schedulerReady = () =>
  waitForCondition(
    cluster.client,
    BuildbarnScheduler,
    { namespace, name: "scheduler" },
    "Ready",
    "True",
    wait,
  );
const schedulerTemplate = async () =>
  (await cluster.client.get(Deployment, { namespace, name: "scheduler" })).spec?.template;

test(
  "a change restarts a scheduler once its workers are idle, whenever the operator dies",
  slow,
  async () => {
    await create({ replicas: 1, minReadySeconds: 0 });
    await ready();
    await schedulerReady();
    await until(() => scheduler.pods().length === 1);
    const [pod = ""] = scheduler.pods();
    const before = await schedulerTemplate();
    scheduler.enqueue(1);
    await another();
    const held = await schedulerIs("DrainingWorkers");
    expect(held).toBeTruthy();
    await until(() => scheduler.drains.has(everyPod));
    scheduler.enqueue(3);
    replica.kill();
    await replica.start();
    expect(await schedulerTemplate()).toEqual(before);
    expect(scheduler.executing(pod)).toBe(1);
    scheduler.complete(pod);
    await until(
      async () => (await schedulerTemplate())?.metadata?.annotations !== before?.metadata?.annotations,
    );
    await until(async () => !scheduler.drains.has(everyPod));
    await schedulerReady();
    expect(scheduler.killed).toEqual([]);
    await until(() => scheduler.executing(pod) > 0);
  },
);

test(
  "workers get actions again when the change that would restart their scheduler is taken back",
  slow,
  async () => {
    await create({ replicas: 1, minReadySeconds: 0 });
    await ready();
    await schedulerReady();
    await until(() => scheduler.pods().length === 1);
    const [pod = ""] = scheduler.pods();
    const before = await schedulerTemplate();
    scheduler.enqueue(1);
    const { metadata } = await another();
    await until(() => scheduler.drains.has(everyPod));
    await cluster.client.delete(BuildbarnWorker, metadata);
    await until(() => !scheduler.drains.has(everyPod));
    await schedulerReady();
    expect(await schedulerTemplate()).toEqual(before);
    expect(scheduler.executing(pod)).toBe(1);
  },
);

test("a configuration that is refused in the meantime gives workers their actions back", slow, async () => {
  await create({ replicas: 1, minReadySeconds: 0 });
  await ready();
  await schedulerReady();
  await until(() => scheduler.pods().length === 1);
  scheduler.enqueue(1);
  await another();
  await until(() => scheduler.drains.has(everyPod));
  await cluster.client.patch(
    BuildbarnScheduler,
    { namespace, name: "scheduler" },
    { type: "merge", patch: { spec: { configOverrides: "{ nonsense: 1 }" } } },
  );
  await until(() => !scheduler.drains.has(everyPod));
});

test("running actions hold up a change no longer than they may", slow, async () => {
  await cluster.client.patch(
    BuildbarnScheduler,
    { namespace, name: "scheduler" },
    { type: "merge", patch: { spec: { drainTimeout: "2s" } } },
  );
  await create({ replicas: 1, minReadySeconds: 0 });
  await ready();
  await schedulerReady();
  await until(() => scheduler.pods().length === 1);
  const before = await schedulerTemplate();
  scheduler.enqueue(1);
  await another();
  await until(() => scheduler.drains.has(everyPod));
  await until(async () => JSON.stringify(await schedulerTemplate()) !== JSON.stringify(before));
});
