import { fasterClock } from "@windlass/clock";
import { ControlPlane } from "@windlass/control-plane";
import { Client, manager } from "@windlass/runtime";
import { CronJob, CustomResourceDefinition, Deployment, Job, Node, Pod } from "@windlass/runtime/kinds";
import { Simulation, startCluster, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Greeting, greeting } from "./greeting.ts";

const pod = (name: string, image: string, annotations = {}) => ({
  metadata: { namespace: "default", name, annotations },
  spec: { containers: [{ name: "main", image }] },
});

/** Why the pod's one container does not run. */
const waitingReason = (client: Client, name: string, reason: string) =>
  waitFor(client, Pod, { namespace: "default", name }, ({ status }) =>
    status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === reason),
  );

test("pods do as a test says, or their own annotations", async () => {
  await using plane = await ControlPlane.start();
  const client = new Client({ transport: plane.connect() });
  const stop = plane.node.on("web-*", { kind: "crash-loop", exitCode: 3 });
  plane.node.on(({ spec }) => spec.containers.some(({ image }) => image === "web:2"), "never-ready");
  plane.node.missingImages("registry.example.com/*");
  await client.create(Pod, pod("web-0", "web:1"));
  await client.create(Pod, pod("shop", "registry.example.com/shop:1"));
  await client.create(Pod, pod("slow", "web:1", { "node.windlass.dev/ready-after": "1h" }));
  await waitingReason(client, "web-0", "CrashLoopBackOff");
  await waitingReason(client, "shop", "ImagePullBackOff");
  const second = await client.create(Pod, pod("second", "web:2"));
  const running = await waitFor(client, Pod, second.metadata, (one) =>
    one.status?.phase === "Running" ? one : undefined,
  );
  expect(running.status?.containerStatuses?.[0]?.ready).toBe(false);
  const slow = { namespace: "default", name: "slow" };
  await waitFor(client, Pod, slow, ({ status }) => status?.phase === "Running");
  const { status } = await client.get(Pod, slow);
  expect(status?.containerStatuses?.[0]).toMatchObject({ ready: false, started: true });
  stop();
}, 60_000);

test("a scheduler places pods on the nodes that a test describes", async () => {
  await using plane = await ControlPlane.start({
    nodes: [{ name: "small", capacity: { cpu: "1", memory: "1Gi", pods: "1" } }],
  });
  const client = new Client({ transport: plane.connect() });
  const labels = { app: "web" };
  await client.create(Deployment, {
    metadata: { namespace: "default", name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  });
  await plane.settle();
  const { items } = await client.list(Pod, { namespace: "default" });
  const phases = new Set(items.map(({ status }) => status?.phase));
  expect(phases).toEqual(new Set(["Pending", "Running"]));
});

test("a node that is cut off is not ready, until it is back", async () => {
  await using world = await Simulation.start({
    seed: 7,
    controlPlane: { nodes: [{ name: "east" }, { name: "west" }] },
  });
  const ready = async () => {
    const { status } = await world.client.get(Node, { name: "east" });
    return status?.conditions?.find(({ type }) => type === "Ready")?.status;
  };
  const back = world.plane.node.lose("east");
  await world.advance(60_000);
  expect(await ready()).toBe("Unknown");
  back();
  await world.advance(60_000);
  expect(await ready()).toBe("True");
});

test("an operator gets there in spite of conflicts, lost watches and a forgotten past", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const plane = cluster.controlPlane;
  if (!plane) throw new Error("faults are for the embedded control plane");
  await cluster.install(Greeting);
  await cluster.run("greeting", (options) => manager(options).add(greeting));
  using conflicts = plane.faults.add({ resources: ["greetings/status"], times: 2, conflict: true });
  using slow = plane.faults.add({ kinds: ["ConfigMap"], probability: 0.5, delay: "20ms" });
  plane.faults.dropWatches({ resources: ["greetings"] });
  plane.faults.compact();
  const key = { namespace: await cluster.createNamespace(), name: "ada" };
  await cluster.client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await waitForCondition(cluster.client, Greeting, key, "Ready");
  expect(conflicts.hits).toBe(2);
  slow.remove();
}, 60_000);

test("a standby takes over once the lease of the one that crashed has run out", async () => {
  await using world = await Simulation.start({ seed: 7 });
  await world.client.create(CustomResourceDefinition, Greeting.crd());
  await world.settle();
  const replica = (identity: string) =>
    world.run(identity, (options) =>
      manager({ ...options, leaderElection: { name: "greeting", namespace: "default", identity } }).add(
        greeting,
      ),
    );
  const first = await replica("first");
  const second = await replica("second");
  await world.advance(5_000);
  first.crash();
  await world.advance(5_000);
  expect(second.manager.isLeading).toBe(false);
  await world.advance(30_000);
  expect(second.manager.isLeading).toBe(true);
});

const cronJob = (schedule: string) => ({
  metadata: { namespace: "default", name: "report" },
  spec: {
    schedule,
    jobTemplate: {
      spec: {
        template: {
          spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "report:1" }] },
        },
      },
    },
  },
});

test("three hours pass, and an hourly job has run three times", async () => {
  await using world = await Simulation.start({ seed: 7 });
  await world.client.create(CronJob, cronJob("0 * * * *"));
  await world.advance(3 * 3_600_000);
  const { items } = await world.client.list(Job, { namespace: "default" });
  expect(items.map(({ status }) => status?.succeeded)).toEqual([1, 1, 1]);
});

test("a clock that runs faster: a minute takes a tenth of a second", async () => {
  await using plane = await ControlPlane.start({ clock: fasterClock(600) });
  const client = new Client({ transport: plane.connect() });
  await client.create(CronJob, cronJob("* * * * *"));
  const key = { namespace: "default", name: "report" };
  await waitFor(client, CronJob, key, ({ status }) => status?.lastSuccessfulTime);
}, 60_000);
