import { manager } from "@windlass/runtime";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ElastiService } from "./elasti-service.ts";
import { wakeAnnotation } from "./names.ts";
import { wakeServer } from "./wake-server.ts";

let cluster: TestCluster;
let namespace: string;
/** Two replicas without authentication, and one that wants a token. */
const ports: number[] = [];
const path = "/informer/incoming-request";

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(ElastiService);
  namespace = await cluster.createNamespace("elasti");
  const authorize = (token: string | undefined) => Promise.resolve(token === "good");
  for (const more of [{}, {}, { authorize }])
    await cluster.run("elasti-operator", (options) =>
      manager(options).add(
        wakeServer({ port: 0, host: "127.0.0.1", onListening: (port) => ports.push(port), ...more }),
      ),
    );
});
afterAll(() => cluster.close());

async function createAsleep(name: string, phase = "Asleep") {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const key = { namespace, name };
  await cluster.client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service: name } });
  await cluster.client
    .subresource(ElastiService, key, "status")
    .patch({ type: "merge", patch: { status: { phase, step: 7 } } });
  return key;
}

async function ask(replica: number, body: unknown, init: RequestInit = {}) {
  const answer = await fetch(`http://127.0.0.1:${ports[replica]}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const annotation = async (key: { readonly namespace: string; readonly name: string }) =>
  (await cluster.client.get(ElastiService, key)).metadata.annotations?.[wakeAnnotation];

test("any replica takes a wake, as the original's resolver asks for it", async () => {
  for (const replica of [0, 1]) {
    const key = await createAsleep(`web-${replica}`);
    const body = { count: 1, svc: key.name, namespace };
    await expect.poll(() => ask(replica, body)).toMatchObject({ status: 202, body: { accepted: true } });
    expect(await annotation(key)).toBe("1");
  }
});

test("asking again writes nothing, unless many more wait", async () => {
  const key = await createAsleep("again");
  await expect.poll(() => ask(0, { count: 10, svc: "again", namespace })).toMatchObject({ status: 202 });
  const seen = ({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> } }) =>
    metadata.annotations?.[wakeAnnotation] === "10";
  const { metadata } = await waitFor(cluster.client, ElastiService, key, (one) => seen(one) && one);
  for (const count of [1, 10, 15]) await ask(0, { count, svc: "again", namespace });
  const after = await cluster.client.get(ElastiService, key);
  expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
  await expect
    .poll(async () => {
      await ask(0, { count: 20, svc: "again", namespace });
      return annotation(key);
    })
    .toBe("20");
});

test("a service that serves is left alone", async () => {
  const key = await createAsleep("serving", "Serving");
  await expect.poll(() => ask(0, { count: 1, svc: "serving", namespace })).toMatchObject({ status: 202 });
  expect(await annotation(key)).toBeUndefined();
});

test("a malformed request, or one for an unknown service, is refused", async () => {
  expect(await ask(0, { svc: "nobody", namespace })).toMatchObject({ status: 404 });
  expect(await ask(0, { svc: 5, namespace })).toMatchObject({ status: 400 });
  expect(await ask(0, "{")).toMatchObject({ status: 400 });
  expect(await ask(0, "x".repeat(20_000))).toMatchObject({ status: 400 });
  expect(await ask(0, undefined, { method: "GET", body: null })).toMatchObject({ status: 405 });
  const elsewhere = await fetch(`http://127.0.0.1:${ports[0]}/crd-cache`);
  expect(elsewhere.status).toBe(404);
});

test("where a token is wanted, no request without it wakes", async () => {
  const key = await createAsleep("guarded");
  const body = { count: 1, svc: "guarded", namespace };
  expect(await ask(2, body)).toMatchObject({ status: 401 });
  expect(await ask(2, body, { headers: { authorization: "Bearer bad" } })).toMatchObject({ status: 401 });
  expect(await annotation(key)).toBeUndefined();
  const good = { headers: { authorization: "Bearer good" } };
  await expect.poll(() => ask(2, body, good)).toMatchObject({ status: 202 });
});
