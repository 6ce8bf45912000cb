import { expect, test } from "vitest";
import { listAt } from "../controllers/objects.ts";
import { type Stage, stage } from "../controllers/stage.ts";
import type { JsonObject } from "../json.ts";
import { field } from "../storage/store.ts";

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
const phase = (world: Stage, name: string) => field(world.get("pods", name), "status", "phase");
const main = (world: Stage, name: string) =>
  listAt(world.get("pods", name), "status", "containerStatuses")[0];
const condition = (world: Stage, name: string, type: string) =>
  listAt(world.get("pods", name), "status", "conditions").find((one) => one.type === type);

test("a pod is placed, started and ready, and its events say so", async () => {
  await using world = await stage();
  await world.create(pod("web"));
  expect(world.get("pods", "web")).toMatchObject({
    spec: { nodeName: "windlass-node" },
    status: {
      phase: "Running",
      podIP: "10.244.0.2",
      containerStatuses: [{ name: "main", ready: true, started: true, restartCount: 0 }],
    },
  });
  expect(
    listAt(world.get("pods", "web"), "status", "conditions").map(({ type, status }) => [type, status]),
  ).toEqual([
    ["PodReadyToStartContainers", "True"],
    ["Initialized", "True"],
    ["Ready", "True"],
    ["ContainersReady", "True"],
    ["PodScheduled", "True"],
  ]);
  expect(world.events("Pod")).toEqual([
    "Scheduled: Successfully assigned default/web to windlass-node",
    'Pulled: Container image "example/app:1" already present on machine and can be accessed by the pod',
    "Created: Container created",
    "Started: Container started",
  ]);
});

test("an annotation that makes no sense is told of, once, and the pod runs as usual", async () => {
  await using world = await stage();
  await world.create(
    pod("odd", behave("crashloop", { "node.windlass.dev/after": "soon", "node.windlass.dev/exitcode": "3" })),
  );
  expect(phase(world, "odd")).toBe("Running");
  const told = world.events("Pod").filter((text) => text.startsWith("AnnotationIgnored: "));
  expect(told).toEqual([
    'AnnotationIgnored: node.windlass.dev/after is ignored: "soon" is no duration, such as 1m30s or 500ms',
    expect.stringContaining('behavior is ignored: "crashloop" is none of run, never-ready,'),
    expect.stringContaining("node.windlass.dev/exitcode is not known, and ignored. There are "),
  ]);
});

test("annotations that make sense are taken without a word", async () => {
  await using world = await stage();
  const all = { after: "1m30s", "exit-code": "3", times: "1", "start-after": "5", "ready-after": "500ms" };
  const more = { ...all, linger: "grace", container: "main", logs: "text" };
  const named = Object.fromEntries(
    Object.entries(more).map(([name, value]) => [`node.windlass.dev/${name}`, value]),
  );
  await world.create(pod("told", behave("fail", named)));
  await world.pass(10_000);
  expect(world.events("Pod").join()).not.toContain("AnnotationIgnored");
});

test("a container is not ready before anybody asks whether it is", async () => {
  await using world = await stage();
  const probed = {
    name: "main",
    image: "example/app:1",
    readinessProbe: { initialDelaySeconds: 20, tcpSocket: { port: 80 } },
  };
  await world.create(pod("slow", { spec: { containers: [probed] } }));
  await world.pass(19_000);
  expect(condition(world, "slow", "Ready")?.status).toBe("False");
  await world.pass(1_000);
  expect(condition(world, "slow", "Ready")?.status).toBe("True");
});

test("a container that crashes is started again at once, and then after ever longer waits", async () => {
  await using world = await stage();
  await world.create(pod("crash", behave("crash-loop", { "node.windlass.dev/exit-code": "7" })));
  const restarts = () => main(world, "crash")?.restartCount;
  expect(restarts()).toBe(1);
  expect(main(world, "crash")).toMatchObject({
    ready: false,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 7, reason: "Error" } },
  });
  expect(field(main(world, "crash"), "state", "waiting", "message")).toMatch(
    /^back-off 10s restarting failed container=main pod=crash_default\(/,
  );
  expect(phase(world, "crash")).toBe("Running");
  await world.pass(9_000);
  expect(restarts()).toBe(1);
  await world.pass(1_000);
  expect(restarts()).toBe(2);
  await world.pass(19_000);
  expect(restarts()).toBe(2);
  await world.pass(1_000 + 40_000 + 80_000 + 160_000);
  expect(restarts()).toBe(6);
  expect(field(main(world, "crash"), "state", "waiting", "message")).toMatch(/^back-off 5m0s /);
});

test("a container that cannot be started again counts on from where it was", async () => {
  await using world = await stage();
  await world.create({
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
  await world.create(pod("held", { annotations, spec: { containers } }));
  await world.delete("configmaps", "settings");
  await world.pass(60_000);
  expect(main(world, "held")).toMatchObject({
    state: { waiting: { reason: "CreateContainerConfigError" } },
    lastState: { terminated: { exitCode: 1 } },
    restartCount: 0,
  });
  await world.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings" },
    data: { a: "1" },
  });
  expect(main(world, "held")).toMatchObject({ ready: true, restartCount: 1 });
});

test("a container may fail a few times and run at last", async () => {
  await using world = await stage();
  await world.create(pod("flaky", behave("fail", { "node.windlass.dev/times": "2" })));
  await world.pass(10_000);
  expect(main(world, "flaky")).toMatchObject({ ready: true, restartCount: 2 });
});

test("restart policies decide what becomes of a container that ends", async () => {
  await using world = await stage();
  const ends = (kind: string, restartPolicy: string) =>
    pod(`${kind}-${restartPolicy.toLowerCase()}`, { ...behave(kind), spec: { restartPolicy } });
  await world.create(
    ends("succeed", "Never"),
    ends("fail", "Never"),
    ends("succeed", "OnFailure"),
    ends("fail", "OnFailure"),
    ends("oom-killed", "Never"),
  );
  expect([phase(world, "succeed-never"), phase(world, "fail-never")]).toEqual(["Succeeded", "Failed"]);
  expect([phase(world, "succeed-onfailure"), phase(world, "fail-onfailure")]).toEqual([
    "Succeeded",
    "Running",
  ]);
  expect(main(world, "oom-killed-never")).toMatchObject({
    state: { terminated: { exitCode: 137, reason: "OOMKilled" } },
  });
  expect(condition(world, "succeed-never", "Ready")).toMatchObject({
    status: "False",
    reason: "PodCompleted",
  });
  expect(condition(world, "fail-never", "Ready")).toMatchObject({ status: "False", reason: "PodFailed" });
});

test("an image that cannot be pulled keeps its pod waiting until it appears", async () => {
  await using world = await stage();
  const appear = world.plane.node.missingImages("example/app:*");
  await world.create(pod("web"));
  expect(main(world, "web")).toMatchObject({ state: { waiting: { reason: "ImagePullBackOff" } } });
  expect(phase(world, "web")).toBe("Pending");
  expect(world.events("Pod")).toContain("Failed: Error: ErrImagePull");
  expect(world.events("Pod")).toContain('BackOff: Back-off pulling image "example/app:1"');
  appear();
  await world.pass(0);
  expect(phase(world, "web")).toBe("Running");
});

test("time decides when a pod is created, ready, done, and gone", async () => {
  await using world = await stage();
  world.plane.node.on(
    { labels: { app: "slow" } },
    { kind: "succeed", startAfter: "5s", readyAfter: "10s", after: "1m", linger: "20s" },
  );
  await world.create(pod("slow", { labels: { app: "slow" }, spec: { restartPolicy: "Never" } }));
  expect(main(world, "slow")).toMatchObject({ state: { waiting: { reason: "ContainerCreating" } } });
  await world.pass(5_000);
  expect(main(world, "slow")).toMatchObject({ ready: false, started: true });
  await world.pass(10_000);
  expect(condition(world, "slow", "Ready")).toMatchObject({ status: "True" });
  await world.pass(50_000);
  expect(phase(world, "slow")).toBe("Succeeded");
  await world.create(pod("gone", { labels: { app: "slow" } }));
  await world.pass(6_000);
  await world.delete("pods", "gone");
  expect(world.events("Pod").at(-1)).toBe("Killing: Stopping container main");
  await world.pass(19_000);
  expect(world.get("pods", "gone")).toBeDefined();
  await world.pass(1_000);
  expect(world.get("pods", "gone")).toBeUndefined();
});

test("a deleted pod with a finalizer of somebody else's ends, and stays for them", async () => {
  await using world = await stage();
  const held = pod("held");
  (held.metadata as JsonObject).finalizers = ["example.com/mine"];
  await world.create(held);
  await world.delete("pods", "held");
  expect(world.get("pods", "held")?.metadata).toMatchObject({
    finalizers: ["example.com/mine"],
    deletionGracePeriodSeconds: 0,
  });
  expect(phase(world, "held")).toBe("Succeeded");
});

test("init containers run one after another before the rest, and sidecars stay beside it", async () => {
  await using world = await stage();
  world.plane.node.on("staged", { kind: "succeed", container: "slow", after: 5_000 });
  const initContainers = [
    { name: "proxy", image: "example/proxy:1", restartPolicy: "Always" },
    { name: "slow", image: "example/init:1" },
  ];
  await world.create(pod("staged", { spec: { initContainers } }));
  expect(phase(world, "staged")).toBe("Pending");
  expect(condition(world, "staged", "Initialized")).toMatchObject({
    status: "False",
    message: "containers with incomplete status: [slow]",
  });
  expect(main(world, "staged")).toMatchObject({ state: { waiting: { reason: "PodInitializing" } } });
  await world.pass(5_000);
  expect(phase(world, "staged")).toBe("Running");
  expect(listAt(world.get("pods", "staged"), "status", "initContainerStatuses")).toMatchObject([
    { name: "proxy", ready: true, state: { running: {} } },
    { name: "slow", ready: true, state: { terminated: { exitCode: 0 } } },
  ]);
});

test("pods wait for what they mount and what their environment names", async () => {
  await using world = await stage();
  const volumes = [{ name: "v", configMap: { name: "settings" } }];
  const env = [{ name: "A", valueFrom: { secretKeyRef: { name: "keys", key: "a" } } }];
  await world.create(
    pod("mounts", { spec: { volumes } }),
    pod("reads", { spec: { containers: [{ name: "main", image: "example/app:1", env }] } }),
  );
  expect(world.events("Pod")).toContain(
    'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "settings" not found',
  );
  expect(main(world, "reads")).toMatchObject({
    state: { waiting: { reason: "CreateContainerConfigError", message: 'secret "keys" not found' } },
  });
  await world.create(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } },
    { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, data: { a: "YQ==" } },
  );
  expect([phase(world, "mounts"), phase(world, "reads")]).toEqual(["Running", "Running"]);
});

test("a pod may be evicted, overstay its deadline, or wait for a condition of its own", async () => {
  await using world = await stage();
  await world.create(
    pod("evicted", behave("evict", { "node.windlass.dev/after": "30s" })),
    pod("overdue", { spec: { activeDeadlineSeconds: 20 } }),
    pod("gated", { spec: { readinessGates: [{ conditionType: "example.com/open" }] } }),
  );
  expect(condition(world, "gated", "Ready")).toMatchObject({
    status: "False",
    reason: "ReadinessGatesNotReady",
  });
  expect(phase(world, "evicted")).toBe("Running");
  await world.pass(30_000);
  expect(world.get("pods", "evicted")?.status).toMatchObject({ phase: "Failed", reason: "Evicted" });
  expect(world.get("pods", "overdue")?.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
});

test("a pod that fits nowhere says why, in the scheduler's words, and is placed once it fits", async () => {
  await using world = await stage({
    nodes: [
      { name: "small", capacity: { cpu: "1" } },
      { name: "shut", taints: [{ key: "x", effect: "NoSchedule" }] },
      { name: "other", labels: { zone: "b" } },
    ],
  });
  const requests = (cpu: string) => [
    { name: "main", image: "example/app:1", resources: { requests: { cpu } } },
  ];
  await world.create(
    pod("picky", { spec: { nodeSelector: { zone: "c" } } }),
    pod("big", { spec: { containers: requests("100") } }),
  );
  expect(condition(world, "picky", "PodScheduled")).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message:
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  });
  expect(field(condition(world, "big", "PodScheduled"), "message")).toMatch(
    /^0\/3 nodes are available: 1 node\(s\) had untolerated taint\(s\), 2 Insufficient cpu\./,
  );
  await world.change("nodes", "small", ({ metadata }) => {
    (metadata as JsonObject).labels = { zone: "c" };
  });
  expect(field(world.get("pods", "picky"), "spec", "nodeName")).toBe("small");
});

test("pods spread over nodes, keep away from those they cannot stand, and stay off cordoned ones", async () => {
  await using world = await stage({ nodes: [{ name: "a" }, { name: "b" }, { name: "c" }] });
  const aversion = { labelSelector: { matchLabels: { app: "db" } }, topologyKey: "kubernetes.io/hostname" };
  const spec = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [aversion] } },
  };
  await world.change("nodes", "c", (node) => {
    (node.spec as JsonObject).unschedulable = true;
  });
  await world.create(...["db-0", "db-1", "db-2"].map((name) => pod(name, { labels: { app: "db" }, spec })));
  const placed = ["db-0", "db-1", "db-2"].map((name) => field(world.get("pods", name), "spec", "nodeName"));
  expect(placed).toEqual(["a", "b", undefined]);
  await world.change("nodes", "c", (node) => {
    delete (node.spec as JsonObject).unschedulable;
  });
  expect(field(world.get("pods", "db-2"), "spec", "nodeName")).toBe("c");
});

test("logs are what a pod's behavior says that it wrote", async () => {
  await using world = await stage();
  world.plane.node.on("told", {
    kind: "run",
    logs: (one, container) => `${one.metadata.name}/${container} one\ntwo\n`,
  });
  await world.create(
    pod("told"),
    pod("noted", { annotations: { "node.windlass.dev/logs": "hello" } }),
    pod("stuck", behave("stuck")),
  );
  const get = async (path: string) => {
    const response = await world.plane
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
