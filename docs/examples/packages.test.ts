import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createAuthority, inspect, needsRenewal } from "@windlass/certificates";
import { Client, isConflict, isNotFound } from "@windlass/client";
import { ManualClock, seededRandom, sleep, uuid } from "@windlass/clock";
import { ControlPlane } from "@windlass/control-plane";
import { apiVersionOf, type ObjectOf } from "@windlass/kinds";
import type { DeploymentInput } from "@windlass/kinds/builtin";
import { RelayGroup } from "@windlass/relay";
import { manager } from "@windlass/runtime";
import { ConfigMap, Deployment } from "@windlass/runtime/kinds";
import { startCluster, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Greeting, greeting } from "./greeting.ts";

test("clock: an hour passes when it is told to, and chance repeats itself", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const woken = sleep(clock, 3_600_000).then(() => new Date(clock.now()).toISOString());
  await clock.advance(3_600_000);
  expect(await woken).toBe("2026-01-01T01:00:00.000Z");
  expect(uuid(seededRandom(7))).toBe(uuid(seededRandom(7)));
});

test("kinds: what one writes, and what one reads", () => {
  const wanted: DeploymentInput = {
    metadata: { name: "web" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "nginx:1.27" }] },
      },
    },
  };
  const isAvailable = ({ spec, status }: ObjectOf<typeof Deployment>) =>
    status?.availableReplicas === spec.replicas;
  const read: Deployment = {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template: { spec: { containers: [] } } },
    status: { availableReplicas: 1 },
  };
  expect(isAvailable(read)).toBe(true);
  expect(read.spec.selector).toEqual(wanted.spec.selector);
  expect(apiVersionOf(Deployment)).toBe("apps/v1");
});

test("certificates: an authority, and a certificate that it signed", () => {
  const authority = createAuthority({ commonName: "my-operator", validFor: 365 * 86_400_000 });
  const { certificate } = authority.issue({
    commonName: "webhook",
    dnsNames: ["webhook.default.svc"],
    usages: ["server"],
    validFor: 7 * 86_400_000,
  });
  expect(inspect(certificate).dnsNames).toEqual(["webhook.default.svc"]);
  expect(needsRenewal(inspect(certificate), Date.now())).toBe(false);
});

test("relay: a server that passes its connections on, and drains", async () => {
  const backend = createServer((socket) => socket.end("hello\n")).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = backend.address() as AddressInfo;
  const relays = new RelayGroup<string>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: "127.0.0.1", port });
    const { ended } = relays.join(client.remoteAddress ?? "", client, upstream, { idle: "1h" });
    void ended.then(({ outcome, fromUpstream, durationMs }) => {
      console.log(`${outcome.how} after ${fromUpstream} bytes and ${durationMs} ms`);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  const visitor = connect((server.address() as AddressInfo).port, "127.0.0.1");
  visitor.setEncoding("utf8");
  expect(await visitor.toArray()).toEqual(["hello\n"]);
  server.close();
  backend.close();
  await relays.drain({ within: "30s", reason: new Error("the server is being replaced") });
});

test("client: verbs, and errors that say what they are", async () => {
  await using plane = await ControlPlane.start();
  await using client = new Client({ transport: plane.connect(), fieldManager: "docs" });
  const key = { namespace: "default", name: "settings" };
  const read = await client.create(ConfigMap, { metadata: key, data: { colour: "red" } });
  await client.patch(ConfigMap, key, { type: "merge", patch: { data: { colour: "green" } } });
  await client.update(ConfigMap, { ...read, data: { colour: "blue" } }).catch((error: unknown) => {
    if (!isConflict(error)) throw error; // another client wrote it since it was read
  });
  const { items } = await client.list(ConfigMap, { namespace: "default", labelSelector: "!gone" });
  expect(items.find(({ metadata }) => metadata.name === "settings")?.data).toEqual({ colour: "green" });
  await client.delete(ConfigMap, key);
  await expect(client.get(ConfigMap, key)).rejects.toSatisfy(isNotFound);
});

test("control-plane: a Deployment rolls out, and a fault comes when it is asked for", async () => {
  await using plane = await ControlPlane.start();
  const client = new Client({ transport: plane.connect() });
  const labels = { app: "web" };
  await client.create(Deployment, {
    metadata: { namespace: "default", name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx:1.29" }] } },
    },
  });
  await waitForCondition(client, Deployment, { namespace: "default", name: "web" }, "Available");
  plane.faults.add({ verbs: ["get"], error: { code: 404 }, times: 1 });
  const asked = client.get(Deployment, { namespace: "default", name: "web" });
  await expect(asked).rejects.toSatisfy(isNotFound);
});

test("testing: an operator on an API server of its own", async () => {
  await using cluster = await startCluster();
  await cluster.install(Greeting);
  await cluster.run("greeting", (options) => manager(options).add(greeting));
  const key = { namespace: await cluster.createNamespace(), name: "ada" };
  await cluster.client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await waitForCondition(cluster.client, Greeting, key, "Ready");
  expect((await cluster.client.get(ConfigMap, key)).data).toEqual({ text: "Hello, Ada!" });
}, 60_000);
