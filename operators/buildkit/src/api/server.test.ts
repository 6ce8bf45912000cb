import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { loadAuthority } from "@windlass/certificates";
import { apiVersionOf, applyManifest } from "@windlass/client";
import { rbacFor } from "@windlass/runtime";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import { expect, test, vi } from "vitest";
import { systemNamespace } from "../allocation/pool-environment.fixture.ts";
import { readAuthorities } from "../certificates/index.ts";
import { apiName, apiTrustName } from "../names.ts";
import { apiAccess } from "../pool/api-access.ts";
import { BuildKitPool } from "../pool/index.ts";
import { BuildKitWorker } from "../worker/index.ts";
import { ApiTestEnvironment, octocatRule } from "./api-environment.fixture.ts";
import { allocationApi } from "./runnable.ts";

const apiHost = `buildkit-controller-api.${systemNamespace}.svc`;
const auth = { rbac: { rules: [octocatRule] } };

async function known(environment: ApiTestEnvironment, pool: string, idle = 0): Promise<void> {
  const path = `/api/v1/pools/${pool}?namespace=${environment.namespace}`;
  await vi.waitFor(
    async () => {
      for (const replica of environment.ports.keys()) {
        const { body } = await environment.ask("GET", path, { token: environment.token(), replica });
        expect((body.workers as Record<string, number> | undefined)?.idle ?? 0).toBe(idle);
        expect(body.name).toBe(pool);
      }
    },
    { timeout: 10_000 },
  );
}

test("200 clients at once on 20 workers and three replicas: 20 are served, the rest waits, and no worker is given twice", {
  timeout: 60_000,
}, async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 3 });
  await environment.pools.pool("big", { scaling: { min: 20, max: 20 }, auth });
  await known(environment, "big", 20);
  const token = environment.token();
  const ask = (index: number) =>
    environment.ask("POST", "/api/v1/workers/allocate", {
      token,
      replica: index % 3,
      body: { poolName: "big", namespace: environment.namespace, wait: "0s", jobId: `job-${index}` },
    });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)));
  const served = answers.filter(({ status }) => status === 200);
  expect(served).toHaveLength(20);
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(180);
  expect(new Set(served.map(({ body }) => body.workerName)).size).toBe(20);
  const { items } = await environment.client.list(BuildKitWorker, { namespace: environment.namespace });
  expect(items).toHaveLength(20);
  expect(items.filter(({ spec }) => spec.allocation)).toHaveLength(20);
  const metrics = await environment.metrics();
  const sum = (name: string) =>
    metrics
      .split("\n")
      .filter((line) => line.startsWith(name))
      .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  expect(sum("buildkit_worker_allocation_duration_seconds_count{")).toBe(20);
  // Who waits is reported by the operator, once.
  expect(metrics).not.toContain("queue_length");
  expect(sum('buildkit_api_authentications_total{result="accepted"}')).toBeGreaterThanOrEqual(200);
});

test("a certificate that is replaced is served from the next connection on, and those that are there stay", async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 0 });
  const { data = {} } = await environment.client.get(Secret, {
    namespace: systemNamespace,
    name: "buildkit-ca",
  });
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  const [stored] = readAuthorities(Object.fromEntries(decoded));
  const authority = loadAuthority(stored?.certificate ?? "", stored?.key ?? "");
  const folder = await mkdtemp(join(tmpdir(), "api-certificate-"));
  const renew = async () => {
    const { certificate, key } = authority.issue({
      commonName: "api",
      dnsNames: [`buildkit-controller-api.${systemNamespace}.svc`],
      usages: ["server"],
      validFor: 60_000,
    });
    await writeFile(join(folder, "tls.key"), key);
    await writeFile(join(folder, "tls.crt"), certificate);
  };
  try {
    await renew();
    await environment.replica({ certificateFolder: folder });
    const health = (headers: Record<string, string> = {}) =>
      environment.ask("GET", "/api/v1/health", { headers });
    const first = await health();
    await renew();
    // A new connection for each, beside the one that is kept.
    await vi.waitFor(async () =>
      expect((await health({ connection: "close" })).certificate).not.toBe(first.certificate),
    );
    await writeFile(join(folder, "tls.crt"), "not a certificate");
    expect((await health({ connection: "close" })).status).toBe(200);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a replica that stops answers those who wait, and they find another one", async () => {
  await using environment = await ApiTestEnvironment.start();
  await environment.pools.pool("one", { scaling: { max: 1 }, auth });
  await known(environment, "one");
  const token = environment.token();
  const ask = (replica: number, jobId: string) =>
    environment.ask("POST", "/api/v1/workers/allocate", {
      token,
      replica,
      body: { poolName: "one", namespace: environment.namespace, jobId },
    });
  const held = await ask(0, "first");
  const waiting = ask(0, "second");
  const path = `/api/v1/pools/one?namespace=${environment.namespace}`;
  await vi.waitFor(async () =>
    expect((await environment.ask("GET", path, { token, replica: 1 })).body.queue).toEqual({ length: 1 }),
  );
  await environment.managers[0]?.stop();
  expect(await waiting).toMatchObject({
    status: 503,
    body: { code: "ShuttingDown" },
    headers: { connection: "close" },
  });
  await expect(environment.ask("GET", "/api/v1/health")).rejects.toThrow();
  const again = ask(1, "second");
  await environment.ask("POST", "/api/v1/workers/release", {
    token,
    replica: 1,
    body: { token: held.body.token },
  });
  expect((await again).status).toBe(200);
});

test("a session cannot be resumed: who shows a certificate shows it each time", async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 1 });
  const options = {
    port: environment.ports[0] ?? 0,
    host: "127.0.0.1",
    ca: environment.pools.trust,
    servername: apiHost,
  };
  const connected = async (session?: Buffer) => {
    const socket = connectTls({ ...options, ...(session ? { session } : {}) });
    const sessions: Buffer[] = [];
    socket.on("session", (one: Buffer) => sessions.push(one));
    await once(socket, "secureConnect");
    const isReused = socket.isSessionReused();
    socket.write("GET /api/v1/health HTTP/1.1\r\nhost: api\r\nconnection: close\r\n\r\n");
    await once(socket.resume(), "close");
    return { isReused, session: sessions.at(-1) };
  };
  const first = await connected();
  expect((await connected(first.session)).isReused).toBe(false);
});

test("who opens a connection and says nothing is hung up on", { timeout: 60_000 }, async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 1 });
  const silent = connect(environment.ports[0] ?? 0, "127.0.0.1");
  silent.on("error", () => silent.destroy());
  const startedAt = performance.now();
  await once(silent.resume(), "close");
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

test("unknown clients that send nothing, or no TLS, keep no other client waiting", async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 1 });
  const sockets = Array.from({ length: 20 }, () => connect(environment.ports[0] ?? 0, "127.0.0.1"));
  for (const [index, socket] of sockets.entries()) {
    socket.on("error", () => socket.destroy());
    if (index % 2 === 0) socket.write("GET / HTTP/1.1\r\n\r\n");
  }
  expect((await environment.ask("GET", "/api/v1/health")).text).toBe("OK");
  for (const socket of sockets) socket.destroy();
});

test("a replica that looks after some namespaces knows no pools of others", async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 0 });
  const other = await environment.pools.cluster.createNamespace("other");
  await environment.pools.pool("ci", { auth });
  await environment.client.create(BuildKitPool, { metadata: { namespace: other, name: "ci" } });
  await environment.replica({}, { namespaces: [environment.namespace] });
  const token = environment.token();
  const { body } = await environment.ask("GET", "/api/v1/pools", { token });
  expect(body.pools).toMatchObject([{ namespace: environment.namespace, name: "ci" }]);
  const asked = { token, body: { poolName: "ci", namespace: other } };
  expect(await environment.ask("POST", "/api/v1/workers/allocate", asked)).toMatchObject({
    status: 404,
    body: { code: "PoolNotFound" },
  });
});

test("the API works with its own role, and nothing more", async () => {
  await using environment = await ApiTestEnvironment.start({ replicas: 0 });
  const account = { namespace: systemNamespace, name: apiName };
  const api = allocationApi({ client: environment.client, namespace: systemNamespace });
  for (const role of rbacFor([api], { name: apiName, serviceAccount: account }))
    await applyManifest(environment.client, role, { force: true });
  const client = await environment.pools.cluster.clientFor(account.namespace, account.name);
  await environment.replica({ client });
  const methods = [{ type: "token", token: { secretRef: "tokens" } }];
  const pool = await environment.pools.pool("ci", {
    scaling: { min: 1, max: 1 },
    auth: { ...auth, methods },
  });
  // Without the pool's role the tokens that it names cannot be read: others are served all the
  // same.
  await known(environment, "ci", 1);
  for (const { kind, object } of apiAccess(pool, systemNamespace)) {
    const metadata = { ...object.metadata, namespace: environment.namespace };
    const manifest = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
    await applyManifest(environment.client, manifest, { force: true });
  }
  const token = environment.token();
  const body = { poolName: "ci", namespace: environment.namespace, jobId: "a" };
  const allocated = await environment.ask("POST", "/api/v1/workers/allocate", { token, body });
  expect(allocated.status).toBe(200);
  const waiting = await environment.ask("POST", "/api/v1/workers/allocate", {
    token,
    body: { ...body, jobId: "b", wait: "0s" },
  });
  expect(waiting.status).toBe(202);
  const boss = environment.token("boss");
  const released = await environment.ask("POST", "/api/v1/workers/release", {
    token: boss,
    body: { token: allocated.body.token },
  });
  expect(released.status).toBe(200);
  const trusted = await environment.client.get(ConfigMap, { namespace: systemNamespace, name: apiTrustName });
  expect(trusted.data?.["ca.crt"]).toContain("BEGIN CERTIFICATE");
  const foreign = { namespace: "kube-system", name: "anything" };
  await expect(client.get(Secret, foreign)).rejects.toThrow("cannot get");
  await expect(client.get(Secret, { ...foreign, namespace: environment.namespace })).rejects.toThrow(
    "cannot get",
  );
  const account2 = await environment.accountToken(environment.namespace);
  expect(
    (await environment.ask("GET", `/api/v1/pools/ci?namespace=${environment.namespace}`, { token: account2 }))
      .status,
  ).toBe(200);
});
