import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ManualClock } from "@windlass/clock";
import type { Pod } from "@windlass/kinds/builtin";
import { expect, test, vi } from "vitest";
import { isReady } from "../controllers/pods.ts";
import { type JsonObject, textOf } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";
import type { StoredObject } from "../storage/store.ts";
import { typed } from "../storage/typed.ts";
import { commandPod, type ProcessCluster, startProcessCluster } from "./process-cluster.fixture.ts";

// Processes take as long as the machine lets them.
vi.setConfig({ testTimeout: 30_000 });

const sh = (script: string) => ["/bin/sh", "-c", script];
const server = `
  const { createServer } = require("http");
  createServer((_, answer) => answer.end(process.env.POD + " says " + process.env.SAYS)).listen(8080);
`;
const node = (script: string) => [process.execPath, "-e", script];
const phase = (wanted: string) => (pod: StoredObject | undefined) =>
  valueAt(pod, "status", "phase") === wanted;
const ready = (pod: StoredObject | undefined) => pod !== undefined && isReady(typed<Pod>(pod));
const main = (pod: StoredObject | undefined) => objectsAt(pod, "status", "containerStatuses")[0] ?? {};
const never = { restartPolicy: "Never" };
const logsOf = (cluster: ProcessCluster, name: string, query = "") =>
  cluster.read(`/api/v1/namespaces/default/pods/${name}/log${query}`);

/** The text at a URL, over a connection of its own. */
function get(host: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ host, port, agent: false }, (incoming) => {
    text(incoming).then(resolve, reject);
  })
    .once("error", reject)
    .end();
  return promise;
}

test("programs that listen on the same port each have it, and a Service sends to them in turn", async () => {
  await using cluster = await startProcessCluster();
  const podName = { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } };
  const container = {
    name: "main",
    image: "example/app:1",
    command: node(server),
    env: [podName, { name: "SAYS", value: "hello" }],
    ports: [{ name: "http", containerPort: 8080 }],
    readinessProbe: { httpGet: { path: "/", port: "http" } },
  };
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  await cluster.create(
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { selector: labels, ports: [{ port: 9090, targetPort: "http" }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    },
  );
  await cluster.until("deployments.apps", "web", (one) => valueAt(one, "status", "readyReplicas") === 2);
  await cluster.plane.settle();
  const address = valueAt(cluster.plane.store.get("services", "default/web")?.object, "spec", "clusterIP");
  const said = [await get(textOf(address), 9090), await get(textOf(address), 9090)];
  const names = cluster.plane.store.list("pods").entries.map(({ object }) => object.metadata.name);
  expect(said.sort()).toEqual(names.map((name) => `${name} says hello`));
});

test("a container finds its volumes, its token and the names of Services where a real one would", async () => {
  await using cluster = await startProcessCluster();
  await cluster.create(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { greeting: "good day" } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "db" },
      spec: { selector: { app: "db" }, ports: [{ port: 5432 }] },
    },
  );
  const script = `
    cat /etc/settings/greeting; echo
    test -s /var/run/secrets/kubernetes.io/serviceaccount/token && echo token
    grep -q "$DB_SERVICE_HOST.*db.default.svc" /etc/hosts && echo known
    echo data > /deep/down/file && cat /deep/down/file
    echo all is well > /dev/termination-log
    exit 3`;
  const volumes = [
    { name: "settings", configMap: { name: "settings" } },
    { name: "scratch", emptyDir: {} },
  ];
  const volumeMounts = [
    { name: "settings", mountPath: "/etc/settings" },
    { name: "scratch", mountPath: "/deep/down" },
  ];
  await cluster.create(
    commandPod("reader", sh(script), { container: { volumeMounts }, spec: { ...never, volumes } }),
  );
  const pod = await cluster.until("pods", "reader", phase("Failed"));
  expect(await logsOf(cluster, "reader")).toBe("good day\ntoken\nknown\ndata\n");
  expect(main(pod).state).toMatchObject({
    terminated: { exitCode: 3, reason: "Error", message: "all is well\n" },
  });
});

test("a webhook may be a pod behind a Service", async () => {
  await using cluster = await startProcessCluster();
  const { authority } = cluster.plane;
  const { certificate, key } = authority.issue({
    commonName: "hook",
    dnsNames: ["hook.default.svc"],
    usages: ["server"],
    validFor: 3_600_000,
  });
  const script = `
    const { readFileSync } = require("fs");
    const [cert, key] = ["cert", "key"].map((name) => readFileSync("/tls/" + name));
    require("https").createServer({ cert, key }, async (request, answer) => {
      const { uid } = JSON.parse(Buffer.concat(await request.toArray())).request;
      const response = { uid, allowed: false, status: { message: "no more of these" } };
      answer.setHeader("content-type", "application/json");
      answer.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }));
    }).listen(8443);
  `;
  const container = {
    volumeMounts: [{ name: "tls", mountPath: "/tls" }],
    readinessProbe: { tcpSocket: { port: 8443 } },
  };
  const volumes = [{ name: "tls", secret: { secretName: "tls" } }];
  const pod = commandPod("hook", node(script), { container, spec: { volumes } });
  const service = { name: "hook", namespace: "default", port: 8443 };
  await cluster.create(
    { apiVersion: "v1", kind: "Secret", metadata: { name: "tls" }, stringData: { cert: certificate, key } },
    { ...pod, metadata: { name: "hook", labels: { app: "hook" } } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "hook" },
      spec: { selector: { app: "hook" }, ports: [{ port: 8443 }] },
    },
  );
  await cluster.until("pods", "hook", ready);
  await cluster.plane.settle();
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }];
  await cluster.create({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "hook" },
    webhooks: [
      {
        name: "hook.example.com",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        rules,
        clientConfig: { service, caBundle: Buffer.from(authority.certificate).toString("base64") },
      },
    ],
  });
  const refused = cluster.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } });
  await expect(refused).rejects.toThrow(
    'admission webhook "hook.example.com" denied the request: no more of these',
  );
});

test("a file follows the object that it is made from, while the container runs", async () => {
  await using cluster = await startProcessCluster();
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { mode: "old" } };
  await cluster.create(map);
  const script = "echo ready; until grep -q new /etc/settings/mode; do sleep 0.02; done; echo seen";
  const volumes = [{ name: "settings", configMap: { name: "settings" } }];
  const volumeMounts = [{ name: "settings", mountPath: "/etc/settings" }];
  await cluster.create(
    commandPod("reader", sh(script), { container: { volumeMounts }, spec: { ...never, volumes } }),
  );
  await cluster.until("pods", "reader", phase("Running"));
  await followUntil(cluster, "reader", "ready\n");
  const path = "/api/v1/namespaces/default/configmaps/settings";
  const headers = { "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ data: { mode: "new" } });
  await cluster.plane.connect().request({ method: "PATCH", path, headers, body });
  await cluster.until("pods", "reader", phase("Succeeded"));
  expect(await logsOf(cluster, "reader")).toBe("ready\nseen\n");
});

test("a container that ends is started again, and both of its logs can be read", async () => {
  const clock = new ManualClock();
  await using cluster = await startProcessCluster({ clock });
  await cluster.create(commandPod("crash", sh("echo once more; exit 7")));
  const pod = await cluster.until(
    "pods",
    "crash",
    (one) => valueAt(main(one), "state", "waiting") !== undefined && main(one).restartCount === 1,
  );
  expect(main(pod)).toMatchObject({
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 7 } },
  });
  expect(await logsOf(cluster, "crash")).toBe("once more\n");
  expect(await logsOf(cluster, "crash", "?previous=true")).toBe("once more\n");
  await clock.advance(10_000);
  await cluster.until("pods", "crash", (one) => main(one).restartCount === 2);
});

test("init containers run one after the other, and a sidecar ends after the others", async () => {
  await using cluster = await startProcessCluster();
  const share = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
  const container = (name: string, script: string, more: JsonObject = {}) => ({
    name,
    image: "example/app:1",
    command: sh(script),
    ...share,
    ...more,
  });
  const sidecar = "trap 'echo side >> /shared/order; exit 0' TERM; while :; do sleep 0.05; done";
  await cluster.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "steps" },
    spec: {
      ...never,
      volumes: [{ name: "shared", emptyDir: {} }],
      initContainers: [
        container("one", "echo one >> /shared/order"),
        container("side", sidecar, { restartPolicy: "Always" }),
        container("two", "echo two >> /shared/order"),
      ],
      containers: [container("main", "echo main >> /shared/order; cat /shared/order")],
    },
  });
  const pod = await cluster.until("pods", "steps", phase("Succeeded"));
  expect(await logsOf(cluster, "steps", "?container=main")).toBe("one\ntwo\nmain\n");
  const side = objectsAt(pod, "status", "initContainerStatuses").find(({ name }) => name === "side");
  expect(side?.state).toMatchObject({ terminated: { exitCode: 0 } });
});

test("a process that does not heed its end is killed when its grace period is over", async () => {
  const clock = new ManualClock();
  await using cluster = await startProcessCluster({ clock });
  const stubborn = "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done";
  await cluster.create(commandPod("stubborn", sh(stubborn)));
  await cluster.until("pods", "stubborn", ready);
  const log = await followUntil(cluster, "stubborn", "ready\n");
  const endings: unknown[] = [];
  cluster.plane.store.subscribe("pods", ({ entry }) =>
    endings.push(valueAt(main(entry.object), "state", "terminated", "exitCode")),
  );
  await cluster.plane
    .connect()
    .request({ method: "DELETE", path: "/api/v1/namespaces/default/pods/stubborn", headers: {} });
  expect(await log.until("ready\nno\n")).toBe("ready\nno\n");
  expect(cluster.plane.store.get("pods", "default/stubborn")).toBeDefined();
  await clock.advance(30_000);
  await cluster.until("pods", "stubborn", (pod) => pod === undefined);
  expect(endings.at(-1)).toBe(137);
});

/** Reads a log as it is written. */
async function followUntil(cluster: ProcessCluster, name: string, first: string) {
  const path = `/api/v1/namespaces/default/pods/${name}/log?follow=true`;
  const { body } = await cluster.plane.connect().request({ method: "GET", path, headers: {} });
  const chunks = body[Symbol.asyncIterator]();
  let text = "";
  const until = async (wanted: string) => {
    while (text.length < wanted.length) {
      const next = await chunks.next();
      if (next.done) break;
      text += Buffer.from(next.value).toString();
    }
    return text;
  };
  await until(first);
  return { until };
}

test("hooks run after the start and before the end, and nothing is asked before a container has started up", async () => {
  await using cluster = await startProcessCluster();
  const note = (text: string) => ({ exec: { command: sh(`echo ${text} >> /notes/all`) } });
  const script = "trap 'cat /notes/all; exit 0' TERM; echo begun; while :; do sleep 0.02; done";
  const container = {
    lifecycle: { postStart: note("post"), preStop: note("pre") },
    startupProbe: { ...note("startup"), periodSeconds: 1 },
    readinessProbe: { ...note("readiness"), periodSeconds: 1_000 },
    volumeMounts: [{ name: "notes", mountPath: "/notes" }],
  };
  const volumes = [{ name: "notes", emptyDir: {} }];
  await cluster.create(commandPod("hooked", sh(script), { container, spec: { volumes } }));
  await cluster.until("pods", "hooked", ready);
  const log = await followUntil(cluster, "hooked", "begun\n");
  const path = "/api/v1/namespaces/default/pods/hooked";
  await cluster.plane.connect().request({ method: "DELETE", path, headers: {} });
  const all = "begun\npost\nstartup\nreadiness\npre\n";
  expect(await log.until(all)).toBe(all);
  await cluster.until("pods", "hooked", (pod) => pod === undefined);
});

test("a container that fails its liveness probe is started again", async () => {
  await using cluster = await startProcessCluster();
  const livenessProbe = { exec: { command: ["/bin/false"] }, failureThreshold: 1 };
  await cluster.create(commandPod("sick", sh("exec sleep 1000"), { container: { livenessProbe } }));
  await cluster.until("pods", "sick", (one) => main(one).restartCount === 1);
  const told = cluster.plane.store.list("events").entries.map(({ object }) => textOf(object.message));
  expect(told).toContain("Liveness probe failed: ");
  expect(told).toContain("Container main failed liveness probe, will be restarted");
});

test("an image that nothing is known about says how to make it known, and a known one runs", async () => {
  const program = {
    command: sh('echo "$WHO $1"'),
    args: ["x", "default"],
    env: { WHO: "at $(WINDLASS_POD_IP)" },
  };
  await using cluster = await startProcessCluster({ processes: { images: { "known:*": program } } });
  const pod = (name: string, image: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { ...never, containers: [{ name: "main", image }] },
  });
  await cluster.create(pod("unknown", "unknown:1"), pod("known", "known:1"));
  const known = await cluster.until("pods", "known", phase("Succeeded"));
  expect(await logsOf(cluster, "known")).toBe(`at ${textOf(valueAt(known, "status", "podIP"))} default\n`);
  const unknown = await cluster.until(
    "pods",
    "unknown",
    (one) => valueAt(main(one), "state", "waiting", "reason") === "ImagePullBackOff",
  );
  expect(valueAt(main(unknown), "state", "waiting", "message")).toContain("processes: { images: ");
});

test("a command that is not there is told, and so is that there are too many processes", async () => {
  await using cluster = await startProcessCluster({ processes: { most: 1 } });
  await cluster.create(commandPod("typo", ["no-such-program"], { spec: never }));
  const typo = await cluster.until("pods", "typo", phase("Failed"));
  expect(main(typo).state).toMatchObject({
    terminated: {
      exitCode: 128,
      reason: "StartError",
      message: expect.stringContaining('"no-such-program"'),
    },
  });
  await cluster.create(commandPod("first", sh("exec sleep 1000")));
  await cluster.until("pods", "first", ready);
  await cluster.create(commandPod("second", sh("exec sleep 1000")));
  const second = await cluster.until(
    "pods",
    "second",
    (one) => valueAt(main(one), "state", "waiting", "reason") === "CreateContainerError",
  );
  expect(valueAt(main(second), "state", "waiting", "message")).toContain("processes.most");
});

test("a program that cannot even be tried fails like one that is not there", async () => {
  await using cluster = await startProcessCluster();
  const args = ["zero \0 byte"];
  await cluster.create(commandPod("zero", ["/bin/echo"], { container: { args }, spec: never }));
  const pod = await cluster.until("pods", "zero", phase("Failed"));
  expect(main(pod).state).toMatchObject({ terminated: { exitCode: 128, reason: "StartError" } });
});

test("a pod that is told how to behave is simulated beside those that run", async () => {
  await using cluster = await startProcessCluster();
  cluster.plane.node.on("pretend", "run");
  await cluster.create(commandPod("pretend", ["no-such-program"]));
  await cluster.until("pods", "pretend", ready);
});

test("a machine with one loopback address and no mounts says so, and runs what it can", async () => {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "darwin" });
  try {
    await using cluster = await startProcessCluster();
    const volumes = [{ name: "scratch", emptyDir: {} }];
    const volumeMounts = [{ name: "scratch", mountPath: "/scratch" }];
    await cluster.create(commandPod("plain", sh("echo at $WINDLASS_POD_IP"), { spec: never }));
    await cluster.create(
      commandPod("mounts", sh("true"), { container: { volumeMounts }, spec: { volumes } }),
    );
    await cluster.until("pods", "plain", phase("Succeeded"));
    expect(await logsOf(cluster, "plain")).toBe("at 127.0.0.1\n");
    const held = await cluster.until(
      "pods",
      "mounts",
      (pod) => valueAt(main(pod), "state", "waiting", "reason") === "CreateContainerError",
    );
    expect(valueAt(main(held), "state", "waiting", "message")).toContain("darwin has no mount namespaces");
    const told = cluster.plane.store.list("events").entries.map(({ object }) => object.reason);
    expect(told).toContain("SharedAddress");
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
  }
});

test("volumes may be left below a directory that a variable names", async () => {
  await using cluster = await startProcessCluster({ processes: { mounts: "variable" } });
  const data = { greeting: "good day" };
  await cluster.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data });
  const volumes = [{ name: "settings", configMap: { name: "settings" } }];
  const volumeMounts = [{ name: "settings", mountPath: "/etc/settings" }];
  const script = 'cat "$WINDLASS_ROOT/etc/settings/greeting"';
  await cluster.create(
    commandPod("reader", sh(script), { container: { volumeMounts }, spec: { ...never, volumes } }),
  );
  await cluster.until("pods", "reader", phase("Succeeded"));
  expect(await logsOf(cluster, "reader")).toBe("good day");
});

/** The end of a connection, however it comes: the process at the other end is gone. */
function closeOf(socket: Socket): Promise<void> {
  socket.on("error", () => undefined);
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
  });
}

test("nothing outlives a control plane that is closed: not what went off on its own either", async () => {
  const cluster = await startProcessCluster();
  const daemon = `setsid ${process.execPath} -e '${server}' & exec sleep 1000`;
  const readinessProbe = { tcpSocket: { port: 8080 } };
  await cluster.create(commandPod("daemon", sh(daemon), { container: { readinessProbe } }));
  const pod = await cluster.until("pods", "daemon", ready);
  const socket = connect(8080, textOf(valueAt(pod, "status", "podIP")));
  await once(socket, "connect");
  const closed = closeOf(socket);
  await cluster.plane.close();
  await closed;
});

test("nothing outlives a control plane that is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "killed-"));
  const program = `
    import { startProcessCluster, commandPod } from ${JSON.stringify(join(import.meta.dirname, "process-cluster.fixture.ts"))};
    const cluster = await startProcessCluster();
    const command = [process.execPath, "-e", ${JSON.stringify(server)}];
    await cluster.create(commandPod("web", command, { container: { readinessProbe: { tcpSocket: { port: 8080 } } } }));
    const pod = await cluster.until("pods", "web", (pod) => pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"));
    console.log(pod.status.podIP);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const socket = connect(8080, line.toString().trim());
  await once(socket, "connect");
  const closed = closeOf(socket);
  child.kill("SIGKILL");
  await closed;
  rmSync(folder, { recursive: true, force: true });
});
