import { expect, test } from "vitest";
import { startCluster, type TestCluster } from "../controllers/cluster.fixture.ts";
import type { JsonObject } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";

function pod(
  name: string,
  more: { annotations?: JsonObject; spec?: JsonObject; labels?: JsonObject } = {},
): JsonObject {
  const { annotations = {}, labels = {}, spec = {} } = more;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations, labels },
    spec: { containers: [{ name: "main", image: "example/app:1" }], ...spec },
  };
}
const behave = (behavior: string, more: JsonObject = {}) => ({
  annotations: { "node.windlass.dev/behavior": behavior, ...more },
});
const phase = (cluster: TestCluster, name: string) => valueAt(cluster.get("pods", name), "status", "phase");
const main = (cluster: TestCluster, name: string) =>
  objectsAt(cluster.get("pods", name), "status", "containerStatuses")[0];
const condition = (cluster: TestCluster, name: string, type: string) =>
  objectsAt(cluster.get("pods", name), "status", "conditions").find((one) => one.type === type);

test("a pod is placed, started and ready, and its events say so", async () => {
  await using cluster = await startCluster();
  await cluster.create(pod("web"));
  expect(cluster.get("pods", "web")).toMatchObject({
    spec: { nodeName: "windlass-node" },
    status: {
      phase: "Running",
      podIP: "10.244.0.2",
      containerStatuses: [{ name: "main", ready: true, started: true, restartCount: 0 }],
    },
  });
  expect(
    objectsAt(cluster.get("pods", "web"), "status", "conditions").map(({ type, status }) => [type, status]),
  ).toEqual([
    ["PodReadyToStartContainers", "True"],
    ["Initialized", "True"],
    ["Ready", "True"],
    ["ContainersReady", "True"],
    ["PodScheduled", "True"],
  ]);
  expect(cluster.events("Pod")).toEqual([
    "Scheduled: Successfully assigned default/web to windlass-node",
    'Pulled: Container image "example/app:1" already present on machine and can be accessed by the pod',
    "Created: Container created",
    "Started: Container started",
  ]);
});

test("an annotation that makes no sense is reported, once, and the pod runs as usual", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    pod("odd", behave("crashloop", { "node.windlass.dev/after": "soon", "node.windlass.dev/exitcode": "3" })),
  );
  expect(phase(cluster, "odd")).toBe("Running");
  const told = cluster.events("Pod").filter((text) => text.startsWith("AnnotationIgnored: "));
  expect(told).toEqual([
    'AnnotationIgnored: node.windlass.dev/after is ignored: "soon" is no duration, such as 1m30s or 500ms',
    expect.stringContaining('behavior is ignored: "crashloop" is none of run, never-ready,'),
    expect.stringContaining("node.windlass.dev/exitcode is not known, and ignored. There are "),
  ]);
});

test("annotations that make sense are taken without a word", async () => {
  await using cluster = await startCluster();
  const all = { after: "1m30s", "exit-code": "3", times: "1", "start-after": "5", "ready-after": "500ms" };
  const more = { ...all, linger: "grace", container: "main", logs: "text" };
  const named = Object.fromEntries(
    Object.entries(more).map(([name, value]) => [`node.windlass.dev/${name}`, value]),
  );
  await cluster.create(pod("told", behave("fail", named)));
  await cluster.pass(10_000);
  expect(cluster.events("Pod").join()).not.toContain("AnnotationIgnored");
});

test("a container is not ready before anybody asks whether it is", async () => {
  await using cluster = await startCluster();
  const probed = {
    name: "main",
    image: "example/app:1",
    readinessProbe: { initialDelaySeconds: 20, tcpSocket: { port: 80 } },
  };
  await cluster.create(pod("slow", { spec: { containers: [probed] } }));
  await cluster.pass(19_000);
  expect(condition(cluster, "slow", "Ready")?.status).toBe("False");
  await cluster.pass(1_000);
  expect(condition(cluster, "slow", "Ready")?.status).toBe("True");
});

test("a container that crashes is started again at once, and then after ever longer waits", async () => {
  await using cluster = await startCluster();
  await cluster.create(pod("crash", behave("crash-loop", { "node.windlass.dev/exit-code": "7" })));
  const restarts = () => main(cluster, "crash")?.restartCount;
  expect(restarts()).toBe(1);
  expect(main(cluster, "crash")).toMatchObject({
    ready: false,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 7, reason: "Error" } },
  });
  expect(valueAt(main(cluster, "crash"), "state", "waiting", "message")).toMatch(
    /^back-off 10s restarting failed container=main pod=crash_default\(/,
  );
  expect(phase(cluster, "crash")).toBe("Running");
  await cluster.pass(9_000);
  expect(restarts()).toBe(1);
  await cluster.pass(1_000);
  expect(restarts()).toBe(2);
  await cluster.pass(19_000);
  expect(restarts()).toBe(2);
  await cluster.pass(1_000 + 40_000 + 80_000 + 160_000);
  expect(restarts()).toBe(6);
  expect(valueAt(main(cluster, "crash"), "state", "waiting", "message")).toMatch(/^back-off 5m0s /);
});

test("a container that cannot be started again counts on from where it was", async () => {
  await using cluster = await startCluster();
  await cluster.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings" },
    data: { a: "1" },
  });
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "settings", key: "a" } } }];
  const containers = [{ name: "main", image: "example/app:1", env }];
  const { annotations } = behave("fail", {
    "node.windlass.dev/after": "60s",
    "node.windlass.dev/times": "1",
  });
  await cluster.create(pod("held", { annotations, spec: { containers } }));
  await cluster.delete("configmaps", "settings");
  await cluster.pass(60_000);
  expect(main(cluster, "held")).toMatchObject({
    state: { waiting: { reason: "CreateContainerConfigError" } },
    lastState: { terminated: { exitCode: 1 } },
    restartCount: 0,
  });
  await cluster.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings" },
    data: { a: "1" },
  });
  expect(main(cluster, "held")).toMatchObject({ ready: true, restartCount: 1 });
});

test("a container may fail a few times and run at last", async () => {
  await using cluster = await startCluster();
  await cluster.create(pod("flaky", behave("fail", { "node.windlass.dev/times": "2" })));
  await cluster.pass(10_000);
  expect(main(cluster, "flaky")).toMatchObject({ ready: true, restartCount: 2 });
});

test("restart policies decide whether a container that ends is started again", async () => {
  await using cluster = await startCluster();
  const ends = (kind: string, restartPolicy: string) =>
    pod(`${kind}-${restartPolicy.toLowerCase()}`, { ...behave(kind), spec: { restartPolicy } });
  await cluster.create(
    ends("succeed", "Never"),
    ends("fail", "Never"),
    ends("succeed", "OnFailure"),
    ends("fail", "OnFailure"),
    ends("oom-killed", "Never"),
  );
  expect([phase(cluster, "succeed-never"), phase(cluster, "fail-never")]).toEqual(["Succeeded", "Failed"]);
  expect([phase(cluster, "succeed-onfailure"), phase(cluster, "fail-onfailure")]).toEqual([
    "Succeeded",
    "Running",
  ]);
  expect(main(cluster, "oom-killed-never")).toMatchObject({
    state: { terminated: { exitCode: 137, reason: "OOMKilled" } },
  });
  expect(condition(cluster, "succeed-never", "Ready")).toMatchObject({
    status: "False",
    reason: "PodCompleted",
  });
  expect(condition(cluster, "fail-never", "Ready")).toMatchObject({ status: "False", reason: "PodFailed" });
});

test("an image that cannot be pulled keeps its pod waiting until it appears", async () => {
  await using cluster = await startCluster();
  const appear = cluster.plane.node.missingImages("example/app:*");
  await cluster.create(pod("web"));
  expect(main(cluster, "web")).toMatchObject({ state: { waiting: { reason: "ImagePullBackOff" } } });
  expect(phase(cluster, "web")).toBe("Pending");
  expect(cluster.events("Pod")).toContain("Failed: Error: ErrImagePull");
  expect(cluster.events("Pod")).toContain('BackOff: Back-off pulling image "example/app:1"');
  appear();
  await cluster.pass(0);
  expect(phase(cluster, "web")).toBe("Running");
});

test("time decides when a pod is created, ready, done, and gone", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on(
    { labels: { app: "slow" } },
    { kind: "succeed", startAfter: "5s", readyAfter: "10s", after: "1m", linger: "20s" },
  );
  await cluster.create(pod("slow", { labels: { app: "slow" }, spec: { restartPolicy: "Never" } }));
  expect(main(cluster, "slow")).toMatchObject({ state: { waiting: { reason: "ContainerCreating" } } });
  await cluster.pass(5_000);
  expect(main(cluster, "slow")).toMatchObject({ ready: false, started: true });
  await cluster.pass(10_000);
  expect(condition(cluster, "slow", "Ready")).toMatchObject({ status: "True" });
  await cluster.pass(50_000);
  expect(phase(cluster, "slow")).toBe("Succeeded");
  await cluster.create(pod("gone", { labels: { app: "slow" } }));
  await cluster.pass(6_000);
  await cluster.delete("pods", "gone");
  expect(cluster.events("Pod").at(-1)).toBe("Killing: Stopping container main");
  await cluster.pass(19_000);
  expect(cluster.get("pods", "gone")).toBeDefined();
  await cluster.pass(1_000);
  expect(cluster.get("pods", "gone")).toBeUndefined();
});

test("a deleted pod with another controller's finalizer ends, and is kept until that is removed", async () => {
  await using cluster = await startCluster();
  const held = pod("held");
  (held.metadata as JsonObject).finalizers = ["example.com/mine"];
  await cluster.create(held);
  await cluster.delete("pods", "held");
  expect(cluster.get("pods", "held")?.metadata).toMatchObject({
    finalizers: ["example.com/mine"],
    deletionGracePeriodSeconds: 0,
  });
  expect(phase(cluster, "held")).toBe("Succeeded");
});

test("init containers run one after another before the rest, and sidecars stay beside it", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("staged", { kind: "succeed", container: "slow", after: 5_000 });
  const initContainers = [
    { name: "proxy", image: "example/proxy:1", restartPolicy: "Always" },
    { name: "slow", image: "example/init:1" },
  ];
  await cluster.create(pod("staged", { spec: { initContainers } }));
  expect(phase(cluster, "staged")).toBe("Pending");
  expect(condition(cluster, "staged", "Initialized")).toMatchObject({
    status: "False",
    message: "containers with incomplete status: [slow]",
  });
  expect(main(cluster, "staged")).toMatchObject({ state: { waiting: { reason: "PodInitializing" } } });
  await cluster.pass(5_000);
  expect(phase(cluster, "staged")).toBe("Running");
  expect(objectsAt(cluster.get("pods", "staged"), "status", "initContainerStatuses")).toMatchObject([
    { name: "proxy", ready: true, state: { running: {} } },
    { name: "slow", ready: true, state: { terminated: { exitCode: 0 } } },
  ]);
});

test("pods wait for what they mount and what their environment names", async () => {
  await using cluster = await startCluster();
  const volumes = [{ name: "v", configMap: { name: "settings" } }];
  const env = [{ name: "A", valueFrom: { secretKeyRef: { name: "keys", key: "a" } } }];
  await cluster.create(
    pod("mounts", { spec: { volumes } }),
    pod("reads", { spec: { containers: [{ name: "main", image: "example/app:1", env }] } }),
  );
  expect(cluster.events("Pod")).toContain(
    'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "settings" not found',
  );
  expect(main(cluster, "reads")).toMatchObject({
    state: { waiting: { reason: "CreateContainerConfigError", message: 'secret "keys" not found' } },
  });
  await cluster.create(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } },
    { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, data: { a: "YQ==" } },
  );
  expect([phase(cluster, "mounts"), phase(cluster, "reads")]).toEqual(["Running", "Running"]);
});

test("a pod may be evicted, overstay its deadline, or wait for a condition of its own", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    pod("evicted", behave("evict", { "node.windlass.dev/after": "30s" })),
    pod("overdue", { spec: { activeDeadlineSeconds: 20 } }),
    pod("gated", { spec: { readinessGates: [{ conditionType: "example.com/open" }] } }),
  );
  expect(condition(cluster, "gated", "Ready")).toMatchObject({
    status: "False",
    reason: "ReadinessGatesNotReady",
  });
  expect(phase(cluster, "evicted")).toBe("Running");
  await cluster.pass(30_000);
  expect(cluster.get("pods", "evicted")?.status).toMatchObject({ phase: "Failed", reason: "Evicted" });
  expect(cluster.get("pods", "overdue")?.status).toMatchObject({
    phase: "Failed",
    reason: "DeadlineExceeded",
  });
});

test("a pod that fits nowhere says why, in the scheduler's words, and is placed once it fits", async () => {
  await using cluster = await startCluster({
    nodes: [
      { name: "small", capacity: { cpu: "1" } },
      { name: "shut", taints: [{ key: "x", effect: "NoSchedule" }] },
      { name: "other", labels: { zone: "b" } },
    ],
  });
  const requests = (cpu: string) => [
    { name: "main", image: "example/app:1", resources: { requests: { cpu } } },
  ];
  await cluster.create(
    pod("picky", { spec: { nodeSelector: { zone: "c" } } }),
    pod("big", { spec: { containers: requests("100") } }),
  );
  expect(condition(cluster, "picky", "PodScheduled")).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message:
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  });
  expect(valueAt(condition(cluster, "big", "PodScheduled"), "message")).toMatch(
    /^0\/3 nodes are available: 1 node\(s\) had untolerated taint\(s\), 2 Insufficient cpu\./,
  );
  await cluster.change("nodes", "small", ({ metadata }) => {
    (metadata as JsonObject).labels = { zone: "c" };
  });
  expect(valueAt(cluster.get("pods", "picky"), "spec", "nodeName")).toBe("small");
});

test("pods spread over nodes, keep away from those they cannot stand, and stay off cordoned ones", async () => {
  await using cluster = await startCluster({ nodes: [{ name: "a" }, { name: "b" }, { name: "c" }] });
  const aversion = { labelSelector: { matchLabels: { app: "db" } }, topologyKey: "kubernetes.io/hostname" };
  const spec = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [aversion] } },
  };
  await cluster.change("nodes", "c", (node) => {
    (node.spec as JsonObject).unschedulable = true;
  });
  await cluster.create(...["db-0", "db-1", "db-2"].map((name) => pod(name, { labels: { app: "db" }, spec })));
  const placed = ["db-0", "db-1", "db-2"].map((name) =>
    valueAt(cluster.get("pods", name), "spec", "nodeName"),
  );
  expect(placed).toEqual(["a", "b", undefined]);
  await cluster.change("nodes", "c", (node) => {
    delete (node.spec as JsonObject).unschedulable;
  });
  expect(valueAt(cluster.get("pods", "db-2"), "spec", "nodeName")).toBe("c");
});

test("logs are what a pod's behavior says that it wrote", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("told", {
    kind: "run",
    logs: (one, container) => `${one.metadata.name}/${container} one\ntwo\n`,
  });
  await cluster.create(
    pod("told"),
    pod("noted", { annotations: { "node.windlass.dev/logs": "hello" } }),
    pod("stuck", behave("stuck")),
  );
  const get = async (path: string) => {
    const response = await cluster.plane
      .connect()
      .request({ method: "GET", path: `/api/v1/namespaces/default/pods/${path}`, headers: {} });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return { status: response.status, text: Buffer.concat(chunks).toString() };
  };
  expect(await get("told/log")).toEqual({ status: 200, text: "told/main one\ntwo\n" });
  expect(await get("told/log?tailLines=1")).toEqual({ status: 200, text: "two\n" });
  expect(await get("noted/log")).toEqual({ status: 200, text: "hello\n" });
  const refused = await get("stuck/log");
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(
    'container \\"main\\" in pod \\"stuck\\" is waiting to start: ContainerCreating',
  );
});
