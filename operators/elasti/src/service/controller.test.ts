import type { NamespacedKey } from "@windlass/client";
import { defineResource, ignoreNotFound, manager } from "@windlass/runtime";
import {
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Namespace,
  Service,
} from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { ModelTraffic, placeResolver, resolver } from "../../testing/model-traffic.ts";
import { elastiController } from "./controller.ts";
import { ElastiService, type ElastiServiceObject } from "./elasti-service.ts";
import {
  divertingLabel,
  pausedAnnotation,
  privateServiceName,
  resolverSliceName,
  wakeAnnotation,
} from "./names.ts";
import { ScaledObject } from "./scaled-object.ts";
import type { Observation } from "./stage.ts";

const Scaled = defineResource({
  group: "keda.sh",
  version: "v1alpha1",
  kind: "ScaledObject",
  spec: z.object({ scaleTargetRef: z.object({ name: z.string() }) }),
});
const Rollout = defineResource({
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Rollout",
  spec: z.object({ replicas: z.int().default(1) }),
  status: z.object({ replicas: z.int().optional() }),
  scale: {},
});

let cluster: TestCluster;
let namespace: string;
let traffic: ModelTraffic;
const wishes = new Map<string, Observation["wish"]>();
let enqueue: (key: NamespacedKey) => void = () => undefined;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  const { client } = cluster;
  await cluster.install(ElastiService, Scaled, Rollout);
  await client.create(Namespace, { metadata: { name: resolver.namespace } });
  await placeResolver(client);
  namespace = await cluster.createNamespace("elasti");
  traffic = new ModelTraffic(client);
  const controller = elastiController({
    kinds: client.discovery,
    probe: traffic,
    reports: traffic,
    wishes: {
      wishOf: ({ metadata }) => wishes.get(metadata.name) ?? "stay",
      faultOf: ({ metadata }) => (metadata.name === "mute" ? "Prometheus did not answer in time" : undefined),
      source: (context) => {
        enqueue = context.enqueue;
      },
    },
    resolver,
    patience: { settleMs: 50, proofMs: 3_000, reprieveMs: 500, drainMs: 500 },
    resolverGraceMs: 200,
  });
  await cluster.run("elasti-operator", (options) => manager(options).add(controller));
});
afterAll(() => cluster.close());

const labels = (name: string) => ({ app: name });

async function createTarget(name: string, replicas = 1): Promise<NamespacedKey> {
  const key = { namespace, name };
  const template = {
    metadata: { labels: labels(name) },
    spec: { containers: [{ name: "web", image: "nginx:1.25", ports: [{ containerPort: 80 }] }] },
  };
  const selector = { matchLabels: labels(name) };
  await cluster.client.create(Deployment, { metadata: key, spec: { replicas, selector, template } });
  const ports = [{ name: "http", port: 80, targetPort: 80 }];
  await cluster.client.create(Service, { metadata: key, spec: { selector: labels(name), ports } });
  await waitFor(cluster.client, Deployment, key, ({ status }) => (status?.readyReplicas ?? 0) === replicas);
  return key;
}

async function createElasti(name: string, spec: object = {}): Promise<NamespacedKey> {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const metadata = { namespace, name };
  await cluster.client.create(ElastiService, { metadata, spec: { scaleTargetRef, service: name, ...spec } });
  return metadata;
}

function seen(key: NamespacedKey, check: (elasti: ElastiServiceObject) => unknown) {
  return waitFor(cluster.client, ElastiService, key, (elasti) => (check(elasti) ? elasti : undefined));
}

const at = (key: NamespacedKey, phase: string) => seen(key, ({ status }) => status?.phase === phase);

function wish(key: NamespacedKey, wanted: Observation["wish"]): void {
  wishes.set(key.name, wanted);
  enqueue(key);
}

const slice = (key: NamespacedKey) => ({ namespace, name: resolverSliceName(key.name) });
const replicasOf = async (key: NamespacedKey) => (await cluster.client.get(Deployment, key)).spec?.replicas;
const conditionOf = ({ status }: ElastiServiceObject, type: string) =>
  status?.conditions?.find((one) => one.type === type);

test("an idle service falls asleep step by step, and a request wakes it", async () => {
  const { client } = cluster;
  const key = await createTarget("ring");
  await createElasti("ring");
  await at(key, "Serving");
  const phases: string[] = [];
  const walk = (last: string) =>
    seen(key, ({ status }) => {
      if (status?.phase && phases.at(-1) !== status.phase) phases.push(status.phase);
      return phases.at(-1) === last;
    });
  const asleep = walk("Asleep");
  wish(key, "sleep");
  const elasti = await asleep;
  expect(phases).toEqual([
    "Serving",
    "Joining",
    "Diverting",
    "Relaying",
    "Holding",
    "ScalingDown",
    "Terminating",
    "Asleep",
  ]);
  expect(await replicasOf(key)).toBe(0);
  expect(elasti.status?.mode).toBe("proxy");
  expect(conditionOf(elasti, "ScaledToZero")?.status).toBe("True");
  await waitFor(client, Service, key, ({ spec }) => spec?.selector?.[divertingLabel] === undefined);
  const { endpoints, ports } = await client.get(EndpointSlice, slice(key));
  expect(endpoints?.[0]).toMatchObject({ addresses: ["10.99.0.1"], conditions: { ready: true } });
  expect(ports?.[0]).toMatchObject({ name: "http", port: elasti.status?.ports?.[0]?.listenPort });
  const hidden = await client.get(Service, { namespace, name: privateServiceName("ring") });
  expect(hidden.spec).toMatchObject({ clusterIP: "None", selector: labels("ring") });
  wish(key, "stay");
  const awake = walk("Serving");
  await client.patch(ElastiService, key, {
    type: "merge",
    patch: { metadata: { annotations: { [wakeAnnotation]: "1" } } },
  });
  await awake;
  expect(phases.slice(8)).toEqual(["Waking", "Returning", "Serving"]);
  expect(await replicasOf(key)).toBe(1);
  const rested = await seen(key, ({ metadata, status }) => {
    return metadata.annotations?.[wakeAnnotation] === undefined && status?.mode === "serve";
  });
  expect(rested.status?.lastScaledUpTime).toBeDefined();
  await waitForDeletion(client, EndpointSlice, slice(key));
});

async function createPair(name: string, spec: object = {}, replicas = 1): Promise<NamespacedKey> {
  const key = await createTarget(name, replicas);
  await createElasti(name, spec);
  return key;
}

async function createAsleep(name: string, spec: object = {}): Promise<NamespacedKey> {
  const key = await createPair(name, spec);
  wish(key, "sleep");
  await at(key, "Asleep");
  wish(key, "stay");
  return key;
}

const annotate = (key: NamespacedKey, annotations: object) =>
  cluster.client.patch(ElastiService, key, { type: "merge", patch: { metadata: { annotations } } });
const wake = (key: NamespacedKey, waiting = 1) => annotate(key, { [wakeAnnotation]: String(waiting) });
const scaleTo = (key: NamespacedKey, replicas: number) =>
  cluster.client
    .subresource(Deployment, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas } } });

test("a request in the last instant takes the sleep back, and no pod is touched", async () => {
  const key = await createPair("last-instant");
  const { metadata } = await cluster.client.get(Deployment, key);
  traffic.inFlight = 1;
  wish(key, "sleep");
  await at(key, "Holding");
  wish(key, "stay");
  await wake(key);
  await at(key, "Serving");
  traffic.inFlight = 0;
  const after = await cluster.client.get(Deployment, key);
  expect(after.metadata.generation).toBe(metadata.generation);
  await waitForDeletion(cluster.client, EndpointSlice, slice(key));
});

test("a wake whose pods the operator does not reach ends all the same, with a condition", async () => {
  const key = await createAsleep("unreachable");
  traffic.arePodsReachable = false;
  await wake(key);
  const elasti = await seen(
    key,
    (one) => one.status?.phase === "Serving" && conditionOf(one, "PathProven")?.status === "False",
  );
  expect(conditionOf(elasti, "PathProven")).toMatchObject({
    reason: "Returning",
    message: expect.stringContaining("reached a pod"),
  });
  expect(conditionOf(elasti, "Ready")?.status).toBe("True");
  traffic.arePodsReachable = true;
  wish(key, "sleep");
  await at(key, "Asleep");
  wish(key, "stay");
  await wake(key);
  await seen(key, (one) => conditionOf(one, "PathProven")?.status === "True");
});

test("a target that others scale to zero has its requests held, and one that they scale up is served", async () => {
  const key = await createPair("by-hand");
  await at(key, "Serving");
  await scaleTo(key, 0);
  await at(key, "Asleep");
  expect((await cluster.client.get(EndpointSlice, slice(key))).endpoints).toHaveLength(1);
  await scaleTo(key, 2);
  await at(key, "Serving");
  expect(await replicasOf(key)).toBe(2);
});

test("a target that is at zero from the start sleeps", async () => {
  const key = await createPair("from-zero", {}, 0);
  await seen(key, ({ status }) => status?.phase === "Asleep" && status.mode === "proxy");
});

test("a target wakes up with what the waiting requests need, within its bounds", async () => {
  const spec = { requestsPerReplica: 10, minTargetReplicas: 2, maxTargetReplicas: 4 };
  const key = await createAsleep("needed", spec);
  await wake(key, 25);
  await at(key, "Serving");
  expect(await replicasOf(key)).toBe(3);
  const other = await createAsleep("many", spec);
  await wake(other, 1_000);
  await at(other, "Serving");
  expect(await replicasOf(other)).toBe(4);
});

test("a target wakes up with what its HorizontalPodAutoscaler asks for", async () => {
  const key = { namespace, name: "hpa" };
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "hpa" };
  const metrics = [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
  ];
  await cluster.client.create(HorizontalPodAutoscaler, {
    metadata: key,
    spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 5, metrics },
  });
  await createAsleep("hpa", { autoscaler: { type: "hpa", name: "hpa" } });
  await wake(key);
  await at(key, "Serving");
  expect(await replicasOf(key)).toBe(3);
});

test("a ScaledObject is paused while its target sleeps, and gets back what it had", async () => {
  const paused = "autoscaling.keda.sh/paused";
  const key = { namespace, name: "keda" };
  await cluster.client.create(Scaled, {
    metadata: { ...key, annotations: { [paused]: "false", "example.com/mine": "kept" } },
    spec: { scaleTargetRef: { name: "keda" } },
  });
  await createAsleep("keda", { autoscaler: { type: "keda", name: "keda" } });
  const asleep = await cluster.client.get(ScaledObject, key);
  expect(asleep.metadata.annotations).toMatchObject({
    [paused]: "true",
    "autoscaling.keda.sh/paused-replicas": "0",
  });
  await wake(key);
  await at(key, "Serving");
  const annotations = await waitFor(cluster.client, Scaled, key, ({ metadata }) => {
    return metadata.annotations?.[pausedAnnotation] === undefined && metadata.annotations;
  });
  expect(annotations).toEqual({ [paused]: "false", "example.com/mine": "kept" });
});

/** Makes a ScaledObject, and puts the target that it scales to sleep. */
async function createAsleepWithKeda(name: string, spec: object = {}): Promise<NamespacedKey> {
  const metadata = { namespace, name };
  await cluster.client.create(Scaled, { metadata, spec: { scaleTargetRef: { name } } });
  const key = await createAsleep(name, { autoscaler: { type: "keda", name }, ...spec });
  await isPaused(key, true);
  return key;
}

const isPaused = (key: NamespacedKey, wanted: boolean) =>
  waitFor(
    cluster.client,
    Scaled,
    key,
    ({ metadata }) => (metadata.annotations?.[pausedAnnotation] !== undefined) === wanted,
  );
const patchSpec = (key: NamespacedKey, spec: object) =>
  cluster.client.patch(ElastiService, key, { type: "merge", patch: { spec } });

test("a ScaledObject that the spec names no longer when its target wakes gets its pause taken back", async () => {
  const removed = await createAsleepWithKeda("keda-removed");
  const renamed = await createAsleepWithKeda("keda-renamed");
  await patchSpec(removed, { autoscaler: null });
  await patchSpec(renamed, { autoscaler: { type: "keda", name: "another" } });
  for (const key of [removed, renamed]) {
    await wake(key);
    await at(key, "Serving");
    await isPaused(key, false);
    await seen(key, ({ status }) => status?.sleptTarget === undefined);
  }
});

test("without its Service a deleted ElastiService wakes its target all the same, and KEDA has it back", async () => {
  const key = await createAsleepWithKeda("keda-orphan");
  await cluster.client.delete(Service, key);
  await seen(key, (one) => conditionOf(one, "Ready")?.reason === "ServiceMissing");
  await cluster.client.delete(ElastiService, key);
  await waitForDeletion(cluster.client, ElastiService, key);
  expect(await replicasOf(key)).toBe(1);
  await isPaused(key, false);
});

test("without its Service a deleted ElastiService with onDelete Keep keeps its target asleep", async () => {
  const key = await createAsleepWithKeda("keda-kept", { onDelete: "Keep" });
  await cluster.client.delete(Service, key);
  await seen(key, (one) => conditionOf(one, "Ready")?.reason === "ServiceMissing");
  await cluster.client.delete(ElastiService, key);
  await waitForDeletion(cluster.client, ElastiService, key);
  expect(await replicasOf(key)).toBe(0);
});

test("a target that the spec names no longer while it sleeps is scaled up again", async () => {
  const key = await createAsleepWithKeda("former", { minTargetReplicas: 2 });
  const other = await createTarget("latter");
  await patchSpec(key, { scaleTargetRef: { name: "latter" } });
  await waitFor(cluster.client, Deployment, key, ({ spec }) => spec?.replicas === 2);
  await isPaused(key, false);
  await at(key, "Serving");
  expect(await replicasOf(other)).toBe(1);
  await seen(key, ({ status }) => status?.sleptTarget === undefined);
  // Also where the new one is not there.
  const lost = await createAsleep("former-too");
  await patchSpec(lost, { scaleTargetRef: { name: "nowhere" } });
  await waitFor(cluster.client, Deployment, lost, ({ spec }) => spec?.replicas === 1);
  await seen(
    lost,
    (one) => one.status?.sleptTarget === undefined && conditionOf(one, "Ready")?.reason === "TargetMissing",
  );
});

test("a ScaledObject that others paused is left alone, and its target awake", async () => {
  const annotations = { "autoscaling.keda.sh/paused-replicas": "1" };
  const key = { namespace, name: "theirs" };
  await cluster.client.create(Scaled, {
    metadata: { ...key, annotations },
    spec: { scaleTargetRef: { name: "theirs" } },
  });
  await createPair("theirs", { autoscaler: { type: "keda", name: "theirs" } });
  await at(key, "Serving");
  wish(key, "sleep");
  const other = await createAsleep("witness");
  expect((await cluster.client.get(ElastiService, key)).status?.phase).toBe("Serving");
  expect((await cluster.client.get(Scaled, key)).metadata.annotations).toEqual(annotations);
  expect(await replicasOf(other)).toBe(0);
});

test("anything with a scale subresource is scaled through it, by its old plural name too", async () => {
  const key = { namespace, name: "rollout" };
  await cluster.client.create(Rollout, { metadata: key, spec: { replicas: 0 } });
  const ports = [{ name: "http", port: 80 }];
  await cluster.client.create(Service, { metadata: key, spec: { selector: labels("rollout"), ports } });
  const scaleTargetRef = { apiVersion: "argoproj.io/v1alpha1", kind: "rollouts", name: "rollout" };
  await createElasti("rollout", { scaleTargetRef, minTargetReplicas: 2 });
  await at(key, "Asleep");
  await wake(key);
  await waitFor(cluster.client, Rollout, key, ({ spec }) => spec.replicas === 2);
});

test("what the original left of a sleeping service is taken over", async () => {
  const { client } = cluster;
  const key = await createTarget("inherited", 0);
  const hidden = { namespace, name: privateServiceName("inherited") };
  const ports = [{ name: "http", port: 80, targetPort: 80 }];
  await client.create(Service, { metadata: hidden, spec: { selector: labels("inherited"), ports } });
  const before = { "kubernetes.io/service-name": "inherited" };
  await client.create(EndpointSlice, {
    metadata: { ...slice(key), labels: before },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.99.9.9"] }],
    ports: [{ name: "http", port: 8012 }],
  });
  await createElasti("inherited");
  const elasti = await seen(key, ({ status }) => status?.phase === "Asleep" && status.mode === "proxy");
  const { endpoints, ports: listed } = await waitFor(client, EndpointSlice, slice(key), (one) => {
    return one.endpoints?.[0]?.addresses[0] === "10.99.0.1" && one;
  });
  expect(endpoints).toHaveLength(1);
  expect(listed?.[0]?.port).toBe(elasti.status?.ports?.[0]?.listenPort);
  await waitFor(client, Service, hidden, ({ spec }) => spec?.clusterIP === "None");
  await wake(key);
  await at(key, "Serving");
  await waitForDeletion(client, EndpointSlice, slice(key));
});

test("a deleted ElastiService wakes its target, and leaves nothing behind", async () => {
  const key = await createAsleep("restored");
  await cluster.client.delete(ElastiService, key);
  await waitForDeletion(cluster.client, ElastiService, key);
  expect(await replicasOf(key)).toBe(1);
  await waitForDeletion(cluster.client, EndpointSlice, slice(key));
  await waitForDeletion(cluster.client, Service, { namespace, name: privateServiceName("restored") });
  expect((await cluster.client.get(Service, key)).spec?.selector).toEqual(labels("restored"));
});

test("a deleted ElastiService with onDelete Keep keeps its target asleep", async () => {
  const key = await createAsleep("kept", { onDelete: "Keep" });
  await cluster.client.delete(ElastiService, key);
  await waitForDeletion(cluster.client, ElastiService, key);
  expect(await replicasOf(key)).toBe(0);
  await waitForDeletion(cluster.client, EndpointSlice, slice(key));
});

test("a deleted ElastiService whose target does not start stays as long as requests wait for it", async () => {
  const key = await createAsleep("slow-start");
  const nodeSelector = { "example.com/node": "none" };
  const patch = { spec: { template: { spec: { nodeSelector } } } };
  await cluster.client.patch(Deployment, key, { type: "merge", patch });
  traffic.held = 1;
  await cluster.client.delete(ElastiService, key);
  const { metadata } = await at(key, "Waking");
  // Longer than a deletion waits without requests; its time is in whole seconds.
  const overdue = Date.parse(metadata.deletionTimestamp ?? "") + 2_000;
  await vi.waitUntil(() => Date.now() > overdue, { timeout: 10_000 });
  expect((await cluster.client.get(ElastiService, key)).status?.phase).toBe("Waking");
  expect((await cluster.client.get(EndpointSlice, slice(key))).endpoints).toHaveLength(1);
  traffic.held = 0;
  await waitForDeletion(cluster.client, ElastiService, key);
  expect(await replicasOf(key)).toBe(1);
});

test("a service with a traffic trigger rests behind the resolver, and sleeps from there", async () => {
  const key = await createPair("counted", { triggers: [{ type: "traffic" }] });
  const elasti = await at(key, "Relaying");
  expect(elasti.status).toMatchObject({ mode: "proxy", restsInPath: true });
  wish(key, "sleep");
  await at(key, "Asleep");
  wish(key, "stay");
  await wake(key);
  await at(key, "Relaying");
});

test("a trigger without an answer is a condition with the reason", async () => {
  const metadata = { query: "up", threshold: 1 };
  const key = await createPair("mute", { triggers: [{ type: "prometheus", metadata }] });
  const elasti = await seen(key, (one) => conditionOf(one, "Ready")?.status === "True");
  expect(conditionOf(elasti, "TriggersAnswer")).toMatchObject({ status: "False", reason: "NoAnswer" });
  expect(conditionOf(elasti, "TriggersAnswer")?.message).toContain("Prometheus did not answer in time");
});

test("what a service depends on wakes before it, and sleeps after it", { timeout: 60_000 }, async () => {
  const base = await createPair("group-base");
  const back = await createPair("group-back", { dependsOn: ["group-base"] });
  const front = await createPair("group-front", { dependsOn: ["group-back"] });
  const all = [base, back, front];
  for (const key of all) wish(key, "sleep");
  await Promise.all(all.map((key) => at(key, "Asleep")));
  for (const key of all) wish(key, "stay");
  const order: string[] = [];
  const started = all.map((key) =>
    waitFor(cluster.client, Deployment, key, ({ spec }) => {
      const isStarted = spec?.replicas === 1;
      if (isStarted) order.push(key.name);
      return isStarted;
    }),
  );
  await wake(front);
  await Promise.all(started);
  expect(order).toEqual(["group-base", "group-back", "group-front"]);
  await Promise.all(all.map((key) => at(key, "Serving")));
});

test("a service keeps its resolver's ports, and no two have the same", async () => {
  const one = await createPair("ports-one");
  const two = await createPair("ports-two");
  const ports = async (key: NamespacedKey) =>
    (await seen(key, ({ status }) => status?.ports)).status?.ports?.map(({ listenPort }) => listenPort);
  expect(await ports(one)).not.toEqual(await ports(two));
});

/** As Argo notes it on the Services whose selectors it writes. */
const managedByArgo = { "argo-rollouts.argoproj.io/managed-by-rollouts": "shop" };
const faulty = (name: string, spec: object) => ({ name, spec });
test.for([
  { reason: "ServiceMissing", ...faulty("no-service", { service: "nowhere" }) },
  {
    reason: "TargetMissing",
    ...faulty("no-target", {
      service: "ring",
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "nobody" },
    }),
  },
  {
    reason: "TargetNotScalable",
    ...faulty("no-scale", {
      service: "lonely",
      scaleTargetRef: { apiVersion: "apps/v1", kind: "DaemonSet", name: "x" },
    }),
  },
  { reason: "ServiceTaken", ...faulty("taken", { service: "ports-one" }) },
  { reason: "ServiceUnsupported", ...faulty("headless", { service: "headless" }) },
  { reason: "ServiceUnsupported", ...faulty("managed", { service: "managed" }) },
  {
    reason: "DependencyMissing",
    ...faulty("no-dependency", { service: "lonely-two", dependsOn: ["nobody"] }),
  },
])("$reason is a condition with the field", async ({ reason, name, spec }) => {
  const ports = [{ port: 80 }];
  const services = [
    { name: "lonely", spec: { selector: { app: "x" }, ports } },
    { name: "lonely-two", spec: { selector: { app: "x" }, ports } },
    { name: "headless", spec: { clusterIP: "None", selector: { app: "x" }, ports } },
    { name: "managed", annotations: managedByArgo, spec: { selector: { app: "x" }, ports } },
  ].filter((one) => one.name === (spec as { service: string }).service);
  for (const { name: service, annotations = {}, spec: wanted } of services)
    await cluster.client.create(Service, {
      metadata: { namespace, name: service, annotations },
      spec: wanted,
    });
  if (reason === "TargetMissing") (spec as { service: string }).service = "witness-service";
  if (reason === "TargetMissing")
    await cluster.client.create(Service, {
      metadata: { namespace, name: "witness-service" },
      spec: { selector: { app: "x" }, ports },
    });
  if (reason === "DependencyMissing") await createTarget(name);
  const key = await createElasti(name, spec);
  const elasti = await seen(key, (one) => conditionOf(one, "Ready")?.reason === reason);
  expect(conditionOf(elasti, "Ready")).toMatchObject({ status: "False" });
  expect(conditionOf(elasti, "Ready")?.message).toMatch(/^spec\.(service|scaleTargetRef|dependsOn): /);
  expect(conditionOf(elasti, "Degraded")?.status).toBe("True");
});

test("a resolver that is about to end keeps the target up for what it has in flight", async () => {
  const key = await createTarget("leaving");
  await createElasti("leaving");
  await at(key, "Serving");
  await placeResolver(cluster.client, true, true);
  const askedAgain = async () => {
    const { leavingAsked } = traffic;
    await vi.waitUntil(() => traffic.leavingAsked >= leavingAsked + 3);
  };
  traffic.leaving = 1;
  wish(key, "sleep");
  await at(key, "Holding");
  await askedAgain();
  expect((await cluster.client.get(ElastiService, key)).status?.phase).toBe("Holding");
  // One that does not answer may have requests all the same.
  traffic.leaving = "silent";
  await askedAgain();
  expect((await cluster.client.get(ElastiService, key)).status?.phase).toBe("Holding");
  expect(await replicasOf(key)).toBe(1);
  traffic.leaving = "gone";
  await at(key, "Asleep");
  await placeResolver(cluster.client);
});

test("a resolver that does not listen for the service yet gets no connections", async () => {
  const key = await createTarget("unheard");
  await createElasti("unheard");
  await at(key, "Serving");
  traffic.isListening = false;
  wish(key, "sleep");
  await at(key, "Joining");
  const found = () => ignoreNotFound(cluster.client.get(EndpointSlice, slice(key)));
  await vi.waitUntil(async () => (await found()) !== undefined);
  expect((await found())?.endpoints ?? []).toEqual([]);
  expect((await cluster.client.get(ElastiService, key)).status?.phase).toBe("Joining");
  traffic.isListening = true;
  await at(key, "Asleep");
  expect((await found())?.endpoints).toHaveLength(1);
});

test("without a resolver no service sleeps", async () => {
  const key = await createAsleep("stranded");
  await placeResolver(cluster.client, false);
  const elasti = await seen(key, (one) => conditionOf(one, "Ready")?.reason === "ResolverUnavailable");
  expect(conditionOf(elasti, "Degraded")?.status).toBe("True");
  await waitFor(cluster.client, Deployment, key, ({ spec }) => spec?.replicas === 1);
  await placeResolver(cluster.client);
  await seen(key, (one) => conditionOf(one, "Degraded")?.status === "False");
});

test("a resolver that does not answer holds up no wake", async () => {
  const key = await createAsleep("beside-silent");
  await placeResolver(cluster.client, true, true);
  traffic.leaving = "silent";
  traffic.silentMs = 3_000;
  const began = performance.now();
  await wake(key);
  await at(key, "Serving");
  expect(performance.now() - began).toBeLessThan(2_500);
  traffic.leaving = "gone";
  traffic.silentMs = 0;
  await placeResolver(cluster.client);
});
