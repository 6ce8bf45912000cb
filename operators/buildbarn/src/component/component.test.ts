import {
  ConfigMap,
  Deployment,
  Ingress,
  Job,
  Pod,
  ResourceQuota,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import {
  BuildbarnBrowser,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  configHashAnnotation,
} from "../index.ts";

let world: EmbeddedTestEnvironment;
// What a user writes is evaluated in a process of its own, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
  world.cluster.controlPlane?.node.on("frontend-*", { kind: "run", linger: "1ms" });
  await world.create(BuildbarnStorage, "storage");
  await world.create(BuildbarnScheduler, "scheduler");
  await world.create(BuildbarnFrontend, "frontend", { replicas: 1 });
  await world.ready(BuildbarnStorage, "storage");
  await world.ready(BuildbarnScheduler, "scheduler");
  await world.ready(BuildbarnFrontend, "frontend");
}, 60_000);
afterAll(() => world.close());

const conditionOf = (
  {
    status,
  }: {
    readonly status?: {
      readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    };
  },
  type: string,
) => status?.conditions?.find((one) => one.type === type);
const configMapsOf = async (component: string) =>
  (
    await world.client.list(ConfigMap, {
      namespace: world.namespace,
      labelSelector: `component=${component}`,
    })
  ).items.map(({ metadata }) => metadata.name);

test.for([
  ["{ maximumMessageSizeBytes: }", "overrides.libsonnet:1:28"],
  ["{\n  grpcServer: [] }", "overrides.libsonnet:2:3: grpcServer is no field of this release"],
  [
    "{ global+: { logPaths: [std.extVar('NOT_SET')] } }",
    "overrides.libsonnet:1:35: std.extVar: there is no environment variable NOT_SET",
  ],
  ["{ global:: {} }", "must listen on :9980, where the probes ask"],
] as const)(
  "%s is refused with its place, and the pods are left alone",
  async ([configOverrides, message]) => {
    const before = await world.get(Deployment, "frontend");
    await world.patch(BuildbarnFrontend, "frontend", { configOverrides });
    const frontend = await world.condition(BuildbarnFrontend, "frontend", "ConfigValid", "False");
    expect(conditionOf(frontend, "ConfigValid")?.message).toContain(message);
    expect(conditionOf(frontend, "Ready")).toMatchObject({
      status: "False",
      reason: "ConfigInvalid",
      message: expect.stringContaining("1 of 1 pods are ready with the last good configuration"),
      observedGeneration: frontend.metadata.generation,
    });
    expect((await world.get(Deployment, "frontend")).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
    await world.patch(BuildbarnFrontend, "frontend", { configOverrides: null });
    await world.ready(BuildbarnFrontend, "frontend");
  },
);

test("text that would take all there is costs its resource alone, and is looked at once", async () => {
  const before = await world.get(Deployment, "frontend");
  const configOverrides = "local f(a, n) = if n == 0 then a else f(a + a, n - 1); { a: f([1, 2, 3], 60) }";
  await world.patch(BuildbarnFrontend, "frontend", { configOverrides });
  const frontend = await world.condition(BuildbarnFrontend, "frontend", "ConfigValid", "False");
  expect(conditionOf(frontend, "ConfigValid")?.message).toMatch(
    /^frontend\.jsonnet: takes more than \d+ (ms|MiB of memory) to evaluate$/,
  );
  expect((await world.get(Deployment, "frontend")).spec).toEqual(before.spec);
  await world.patch(BuildbarnFrontend, "frontend", { configOverrides: null });
  await world.ready(BuildbarnFrontend, "frontend");
}, 60_000);

test("a change of configuration restarts only what it touches, and three configurations are kept", async () => {
  const specs = async () => ({
    storage: (await world.get(StatefulSet, "storage")).spec,
    scheduler: (await world.get(Deployment, "scheduler")).spec,
  });
  const before = await specs();
  for (const megabytes of [3, 4, 5, 6, 7]) {
    const hash = (await world.get(Deployment, "frontend")).spec?.template.metadata?.annotations?.[
      configHashAnnotation
    ];
    const configOverrides = `{ maximumMessageSizeBytes: ${megabytes} * 1024 * 1024 }`;
    await world.patch(BuildbarnFrontend, "frontend", { configOverrides });
    await world.seen(
      Deployment,
      "frontend",
      ({ spec }) => spec?.template.metadata?.annotations?.[configHashAnnotation] !== hash,
    );
    await world.ready(BuildbarnFrontend, "frontend");
  }
  expect(await specs()).toEqual(before);
  expect((await configMapsOf("frontend")).length).toBeLessThanOrEqual(4);
  const { items } = await world.client.list(Pod, {
    namespace: world.namespace,
    labelSelector: "app=frontend",
  });
  const mounted = items
    .flatMap(({ spec }) => spec?.volumes ?? [])
    .flatMap(({ configMap }) => configMap?.name ?? []);
  expect(await configMapsOf("frontend")).toEqual(expect.arrayContaining(mounted));
});

test("a component is not Ready for what it was asked last until all of its pods are as asked", async () => {
  world.cluster.controlPlane?.node.on("frontend-*", { kind: "run", linger: "1ms", readyAfter: "300ms" });
  for (const memory of ["32Mi", "48Mi"]) {
    await world.patch(BuildbarnFrontend, "frontend", { resources: { requests: { memory } } });
    await world.ready(BuildbarnFrontend, "frontend");
    const { items } = await world.client.list(Pod, {
      namespace: world.namespace,
      labelSelector: "component=frontend",
    });
    const asked = items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec?.containers[0]?.resources?.requests?.memory);
    expect(asked).toEqual([memory]);
  }
});

test("a ConfigMap of the user's own is checked, copied, and followed", async () => {
  const own = (port: number) => ({
    "frontend.jsonnet": `{ grpcServers: [{ listenAddresses: [':8980'], authenticationPolicy: { allow: {} } }], maximumMessageSizeBytes: ${port}, global: { diagnosticsHttpServer: { httpServers: [{ listenAddresses: [':9980'] }] } } }`,
  });
  await world.create(BuildbarnFrontend, "frontend-own", { replicas: 1, configMapName: "own" });
  const waiting = await world.condition(BuildbarnFrontend, "frontend-own", "ConfigValid", "False");
  expect(conditionOf(waiting, "ConfigValid")).toMatchObject({
    reason: "ConfigMapMissing",
    message: 'spec.configMapName: there is no ConfigMap "own"',
  });
  expect(waiting.status?.state).toBe("NotFound");
  const binaryData = { "keys.bin": "AAEC/w==" };
  await world.client.create(ConfigMap, { metadata: world.key("own"), data: own(1), binaryData });
  await world.ready(BuildbarnFrontend, "frontend-own");
  const first = await world.get(Deployment, "frontend-own");
  const mounted = first.spec?.template.spec?.volumes?.find(({ name }) => name === "configs")?.configMap?.name;
  expect((await world.get(ConfigMap, mounted ?? "")).binaryData).toEqual(binaryData);
  await world.client.patch(ConfigMap, world.key("own"), { type: "merge", patch: { data: own(2) } });
  await world.seen(
    Deployment,
    "frontend-own",
    ({ metadata }) => metadata.generation !== first.metadata.generation,
  );
  await world.ready(BuildbarnFrontend, "frontend-own");
  await world.client.delete(BuildbarnFrontend, world.key("frontend-own"));
  await waitForDeletion(world.client, BuildbarnFrontend, world.key("frontend-own"), { timeout: 20_000 });
});

test("a scheduler goes over to a new revision once one pod has started with it, and not before", async () => {
  const before = await world.get(Deployment, "scheduler");
  const stop = world.cluster.controlPlane?.node.on("scheduler-try-*", {
    kind: "fail",
    exitCode: 1,
    readyAfter: "1h",
  });
  await world.patch(BuildbarnScheduler, "scheduler", { noWorkersTimeout: "20m" });
  const failed = await world.condition(BuildbarnScheduler, "scheduler", "Degraded");
  expect(conditionOf(failed, "Degraded")).toMatchObject({ reason: "TrialFailed" });
  expect((await world.get(Deployment, "scheduler")).spec).toEqual(before.spec);
  stop?.();
  // A user who has fixed the cause deletes the Job.
  const jobs = await world.client.list(Job, { namespace: world.namespace });
  for (const { metadata } of jobs.items)
    await world.client.delete(Job, metadata, { propagationPolicy: "Background" });
  await world.seen(
    Deployment,
    "scheduler",
    ({ metadata }) => metadata.generation !== before.metadata.generation,
  );
  await world.ready(BuildbarnScheduler, "scheduler");
  for (const { metadata } of (await world.client.list(Job, { namespace: world.namespace })).items)
    await waitForDeletion(world.client, Job, metadata, { timeout: 20_000 });
});

test("a scheduler's new revision must be well for a while, and a trial that cannot start reports why", async () => {
  const before = await world.get(Deployment, "scheduler");
  const stop = world.cluster.controlPlane?.node.on("scheduler-try-*", { kind: "image-pull-error" });
  await world.patch(BuildbarnScheduler, "scheduler", { image: "example.com/none:1", minReadySeconds: 25 });
  const failed = await world.condition(BuildbarnScheduler, "scheduler", "Degraded");
  expect(conditionOf(failed, "Degraded")).toMatchObject({
    reason: "ImagePullFailed",
    message: expect.stringMatching(/^a new revision is tried on one pod, of Job .*example\.com\/none:1$/),
  });
  const [job] = (await world.client.list(Job, { namespace: world.namespace })).items;
  expect(job?.spec?.template.spec?.containers.map(({ readinessProbe }) => readinessProbe)).toEqual([
    expect.objectContaining({ periodSeconds: 1, failureThreshold: 1, successThreshold: 25 }),
  ]);
  expect((await world.get(Deployment, "scheduler")).spec).toEqual(before.spec);
  stop?.();
  await world.patch(BuildbarnScheduler, "scheduler", { image: null, minReadySeconds: 0 });
  await world.ready(BuildbarnScheduler, "scheduler");
});

test.for([
  ["a node that there is not", { nodeSelector: { disk: "none" } }, "Unschedulable"],
  ["more than a node has", { resources: { requests: { cpu: "1000" } } }, "Unschedulable"],
] as const)("%s is tried before a scheduler or a shard goes there", async ([, change, reason]) => {
  for (const [kind, name, workload] of [
    [BuildbarnScheduler, "scheduler", Deployment],
    [BuildbarnStorage, "storage", StatefulSet],
  ] as const) {
    const before = await world.get(workload as typeof Deployment, name);
    await world.patch(kind, name, change);
    const failed = await world.condition(kind, name, "Degraded");
    expect(conditionOf(failed, "Degraded")).toMatchObject({
      reason,
      message: expect.stringMatching(/^a new revision is tried on one pod, of Job .* has no node/),
    });
    expect((await world.get(workload as typeof Deployment, name)).spec).toEqual(before.spec);
    await world.patch(kind, name, { nodeSelector: null, resources: null });
    await world.ready(kind, name);
  }
});

test("an image that makes directories is tried before shards use it", async () => {
  const before = await world.get(StatefulSet, "storage");
  const stop = world.cluster.controlPlane?.node.on("storage-try-*", { kind: "image-pull-error" });
  await world.patch(BuildbarnStorage, "storage", { volumeInitImage: "example.com/none:1" });
  const failed = await world.condition(BuildbarnStorage, "storage", "Degraded");
  expect(conditionOf(failed, "Degraded")).toMatchObject({ reason: "ImagePullFailed" });
  expect((await world.get(StatefulSet, "storage")).spec).toEqual(before.spec);
  stop?.();
  await world.patch(BuildbarnStorage, "storage", { volumeInitImage: null });
  await world.ready(BuildbarnStorage, "storage");
});

test("a trial gets along with a ResourceQuota, and reports it if it gets no pod", async () => {
  const resources = { requests: { cpu: "200m", memory: "64Mi" }, limits: { memory: "128Mi" } };
  await world.patch(BuildbarnScheduler, "scheduler", { resources });
  await world.ready(BuildbarnScheduler, "scheduler");
  const { metadata } = await world.client.create(ResourceQuota, {
    metadata: world.key("quota"),
    spec: { hard: { pods: "0" } },
  });
  await world.patch(BuildbarnScheduler, "scheduler", { noWorkersTimeout: "25m" });
  const failed = await world.condition(BuildbarnScheduler, "scheduler", "Degraded");
  expect(conditionOf(failed, "Degraded")).toMatchObject({
    reason: "FailedCreate",
    message: expect.stringContaining("exceeded quota: quota"),
  });
  const patch = { spec: { hard: { pods: null, "requests.memory": "10Gi", "limits.memory": "10Gi" } } };
  await world.client.patch(ResourceQuota, metadata, { type: "merge", patch });
  const [job] = (await world.client.list(Job, { namespace: world.namespace })).items;
  expect(job?.spec?.template.spec?.containers[0]?.resources).toEqual({
    requests: { cpu: "10m", memory: "32Mi" },
    limits: { memory: "128Mi" },
  });
  // Its controller tries again after a while, and later each time.
  if (job) await world.client.delete(Job, job.metadata, { propagationPolicy: "Background" });
  await world.ready(BuildbarnScheduler, "scheduler");
  await world.client.delete(ResourceQuota, metadata);
  await world.patch(BuildbarnScheduler, "scheduler", { resources: null, noWorkersTimeout: null });
  await world.ready(BuildbarnScheduler, "scheduler");
});

test("a pod that was ready and then fails is not followed by others", async () => {
  await world.create(BuildbarnFrontend, "frontend-many", { replicas: 3, minReadySeconds: 2 });
  await world.ready(BuildbarnFrontend, "frontend-many");
  const podsNow = async () =>
    (
      await world.client.list(Pod, {
        namespace: world.namespace,
        labelSelector: "component=frontend-many",
      })
    ).items;
  const old = new Set((await podsNow()).map(({ metadata }) => metadata.uid));
  // Ready for less than it must be, again and again.
  const stop = world.cluster.controlPlane?.node.on("frontend-many-*", { kind: "fail", after: "500ms" });
  await world.patch(BuildbarnFrontend, "frontend-many", {
    configOverrides: "{ maximumMessageSizeBytes: 9e6 }",
  });
  const failed = await world.condition(BuildbarnFrontend, "frontend-many", "Degraded");
  expect(conditionOf(failed, "Degraded")).toMatchObject({ reason: "CrashLoop" });
  await expect
    .poll(
      async () =>
        (await podsNow()).flatMap(({ status }) => status?.containerStatuses?.[0]?.restartCount ?? 0),
      { timeout: 20_000 },
    )
    .toContainEqual(2);
  const left = (await podsNow()).filter(({ metadata }) => old.has(metadata.uid));
  expect(left.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined, undefined]);
  expect(await podsNow()).toHaveLength(4);
  stop?.();
  await world.client.delete(BuildbarnFrontend, world.key("frontend-many"));
  await waitForDeletion(world.client, BuildbarnFrontend, world.key("frontend-many"), { timeout: 20_000 });
}, 60_000);

test("an Ingress goes when its host does", async () => {
  await world.create(BuildbarnBrowser, "browser", { replicas: 1, ingressHost: "bb-browser.example.com" });
  const { status } = await world.ready(BuildbarnBrowser, "browser");
  expect(status?.url).toBe("http://bb-browser.example.com");
  await world.get(Ingress, "browser");
  await world.patch(BuildbarnBrowser, "browser", { ingressHost: null });
  await waitForDeletion(world.client, Ingress, world.key("browser"), { timeout: 20_000 });
  await world.patch(BuildbarnScheduler, "scheduler", { ingressHost: "" });
  await waitForDeletion(world.client, Ingress, world.key("scheduler"), { timeout: 20_000 });
});

test("a component without what it needs reports it", async () => {
  const missing = async (
    kind: typeof BuildbarnFrontend | typeof BuildbarnScheduler,
    name: string,
    spec: object,
  ) => {
    await world.create(kind, name, spec);
    return conditionOf(await world.condition(kind, name, "ConfigValid", "False"), "ConfigValid");
  };
  expect(await missing(BuildbarnFrontend, "lonely", { cluster: "lonely" })).toMatchObject({
    reason: "MissingReference",
    message: 'no BuildbarnStorage has spec.cluster "lonely"',
  });
  expect(await missing(BuildbarnFrontend, "other", { version: "2025-02" })).toMatchObject({
    reason: "VersionMismatch",
    message: expect.stringContaining("that of BuildbarnStorage storage is 2026-08"),
  });
  await world.create(BuildbarnStorage, "second", { cluster: "lonely" });
  await world.create(BuildbarnStorage, "third", { cluster: "lonely" });
  const ambiguous = await world.seen(BuildbarnFrontend, "lonely", (found) => {
    const one = conditionOf(found, "ConfigValid");
    return one?.message.includes("second, third") && one;
  });
  expect(ambiguous).toMatchObject({ reason: "Ambiguous" });
});
