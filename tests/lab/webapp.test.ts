import { get } from "node:http";
import { Client } from "@windlass/client";
import { type Logger, manager } from "@windlass/runtime";
import { Deployment, Pod, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { WebApp, webapp } from "@windlass/webapp";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The same operator that runs on the embedded control plane, unchanged, with real pods. */
let cluster: TestCluster;
let namespace: string;
const stop = new AbortController();
let running: Promise<unknown>;

const nothing = () => undefined;
const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => quiet };

beforeAll(async () => {
  cluster = await startCluster();
  expect(cluster.flavour).toBe("cluster");
  await cluster.install(WebApp);
  namespace = await cluster.createNamespace("webapp");
  running = manager({
    client: new Client({ transport: cluster.transport(), fieldManager: "webapp-operator" }),
    leaderElection: { name: "webapp-operator", namespace },
    health: false,
    metrics: false,
    log: quiet,
  })
    .add(webapp)
    .run({ signal: stop.signal });
});
afterAll(async () => {
  stop.abort();
  await running;
  await cluster.close();
});

function fetchPage(address: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    get(`http://${address}/`, { timeout: 5_000 }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    }).once("error", reject);
  });
}

test("a WebApp makes a real nginx answer over its Service", async () => {
  const key = { namespace, name: "nginx-app" };
  await cluster.client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25", replicas: 2 } });
  const ready = await waitForCondition(cluster.client, WebApp, key, "Ready");
  expect(ready.status?.availableReplicas).toBe(2);
  const { spec } = await cluster.client.get(Service, key);
  const page = await fetchPage(spec?.clusterIP ?? "");
  expect(page.status).toBe(200);
  expect(page.body).toContain("nginx");
});

test("scaling through the scale subresource reaches the pods", async () => {
  const key = { namespace, name: "nginx-app" };
  await cluster.client
    .subresource(WebApp, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 1 } } });
  const scaled = await waitFor(cluster.client, WebApp, key, (app) =>
    app.status?.replicas === 1 ? app : undefined,
  );
  expect(scaled.spec.replicas).toBe(1);
});

test("a deleted child comes back", async () => {
  const key = { namespace, name: "nginx-app" };
  const before = await cluster.client.get(Deployment, key);
  await cluster.client.delete(Deployment, key);
  const after = await waitFor(cluster.client, Deployment, key, (deployment) =>
    deployment.metadata.uid === before.metadata.uid ? undefined : deployment,
  );
  expect(after.spec?.replicas).toBe(1);
  await waitForCondition(cluster.client, WebApp, key, "Ready");
});

test("deleting the WebApp takes everything with it", async () => {
  const key = { namespace, name: "nginx-app" };
  await cluster.client.delete(WebApp, key);
  await waitForDeletion(cluster.client, Deployment, key);
  await waitForDeletion(cluster.client, Service, key);
  const { items } = await cluster.client.list(Pod, { namespace });
  await Promise.all(
    items.map(({ metadata }) =>
      waitForDeletion(cluster.client, Pod, { namespace, name: metadata.name }, { timeoutMs: 60_000 }),
    ),
  );
});
