import { execFileSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "@windlass/certificates";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { BuildKitPool } from "../pool/index.ts";
import { readRevocations, revocationsDataKey, tokenIn } from "../tokens/index.ts";
import { type Answered, ApiTestEnvironment, type Asked, octocatRule } from "./api-environment.fixture.ts";
import { matchRoute } from "./route.ts";
import { apiRoutes } from "./runnable.ts";
import type { Service } from "./service.ts";

const environment = await ApiTestEnvironment.start();
const { namespace } = environment;
afterAll(() => environment[Symbol.asyncDispose]());

const auth = { rbac: { rules: [octocatRule] } };
const warm = { scaling: { min: 2, max: 4 } };
await environment.pools.pool("ci", { ...warm, auth });
await environment.client.patch(
  BuildKitPool,
  { namespace, name: "ci" },
  { type: "merge", patch: { metadata: { labels: { team: "shop" } } } },
);
await environment.pools.pool("full", { scaling: { max: 1 }, auth, queue: { maxLength: 1 } });
const token = environment.token();

/** Every answer, to be held against the OpenAPI document. */
const answers: { method: string; path: string; answered: Answered }[] = [];
async function ask(method: string, path: string, asked: Asked = {}): Promise<Answered> {
  const answered = await environment.ask(method, path, { token, ...asked });
  answers.push({ method, path: path.split("?")[0] ?? "", answered });
  return answered;
}
const allocate = (body: object, asked: Asked = {}) =>
  ask("POST", "/api/v1/workers/allocate", { body: { namespace, ...body }, ...asked });
const release = (allocated: Answered, asked: Asked = {}) =>
  ask("POST", "/api/v1/workers/release", { body: { token: allocated.body.token }, ...asked });
const pem = (text: unknown) => Buffer.from(String(text), "base64").toString();

/** A pool that was just made is known to each replica a moment later. */
beforeAll(() =>
  vi.waitFor(async () => {
    expect(
      (await environment.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { token })).body.ready,
    ).toBe(true);
    const path = `/api/v1/pools/full?namespace=${namespace}`;
    expect((await environment.ask("GET", path, { token, replica: 1 })).status).toBe(200);
  }),
);

describe("POST /api/v1/workers/allocate", () => {
  test("answers as the original does: a worker, a token, and certificates in base64", async () => {
    const answered = await allocate({ poolName: "ci", ttl: "30m", metadata: { ref: "main" } });
    expect(answered.status).toBe(200);
    const { body } = answered;
    expect(body).toMatchObject({
      workerName: expect.stringMatching(/^ci-worker-\d$/),
      endpoint: "tcp://10.0.0.7:1234",
      gatewayEndpoint: `tcp://ci.${namespace}.svc:1235`,
    });
    expect(pem(body.caCert)).toBe(environment.pools.trust);
    const certificate = new X509Certificate(pem(body.clientCert));
    expect(certificate.verify(new X509Certificate(environment.pools.trust).publicKey)).toBe(true);
    expect(pem(body.clientKey)).toContain("PRIVATE KEY");
    expect(tokenIn(inspect(pem(body.clientCert)))).toEqual({ has: "token", token: body.token });
    const leftMs = Date.parse(String(body.expiresAt)) - Date.now();
    expect(leftMs).toBeGreaterThan(29 * 60_000);
    expect(leftMs).toBeLessThan(30 * 60_000 + 2_000);
    expect((await release(answered)).body).toEqual({ status: "released" });
  });

  test("gives an hour by default, and never more than 24", async () => {
    const lasts = async (ttl?: string) => {
      const answered = await allocate({ poolName: "ci", ...(ttl === undefined ? {} : { ttl }) });
      await release(answered);
      return Math.round((Date.parse(String(answered.body.expiresAt)) - Date.now()) / 60_000);
    };
    expect(await lasts()).toBe(60);
    expect(await lasts("1000h")).toBe(24 * 60);
  });

  test("gives the same worker and token for the same jobId, from another replica too", async () => {
    const first = await allocate({ poolName: "ci", jobId: "42" });
    const again = await allocate({ poolName: "ci", jobId: "42" }, { replica: 1 });
    expect(again.body).toMatchObject({ workerName: first.body.workerName, token: first.body.token });
    await release(first, { replica: 1 });
    expect((await release(again)).status).toBe(404);
  });

  test("signs a request of the client, which keeps its key", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const folder = await mkdtemp(join(tmpdir(), "csr-"));
    await writeFile(join(folder, "key"), key);
    const csr = execFileSync("openssl", ["req", "-new", "-key", "key", "-subj", "/CN=alloc:forged"], {
      cwd: folder,
    });
    await rm(folder, { recursive: true });
    const answered = await allocate({ poolName: "ci", csr: csr.toString() });
    expect(answered.status).toBe(200);
    expect(answered.body).not.toHaveProperty("clientKey");
    const certificate = new X509Certificate(pem(answered.body.clientCert));
    expect(certificate.checkPrivateKey(privateKey)).toBe(true);
    expect(certificate.subject).toContain(`CN=alloc:${String(answered.body.token)}`);
    await release(answered);
    expect(await allocate({ poolName: "ci", csr: "no request" })).toMatchObject({
      status: 422,
      body: { code: "InvalidField", details: { fields: [{ field: "csr" }] } },
    });
  });

  test("gives a worker for each platform, or none at all", async () => {
    const spec = { scaling: { min: 1, max: 1 }, auth };
    const otherPlatforms = [
      { platform: "linux/arm64", poolName: "arm" },
      { platform: "linux/arm", poolName: "ci" },
    ];
    await environment.pools.pool("amd", { ...spec, platform: "linux/amd64", otherPlatforms });
    await environment.pools.pool("arm", { ...spec, platform: "linux/arm64" });
    const platforms = ["linux/arm64", "linux/amd64"];
    const both = () => allocate({ poolName: "amd", jobId: "both", wait: "1s", platforms });
    const held = async (name: string) =>
      (await environment.pools.workers()).filter(
        ({ spec: one }) => one.poolRef.name === name && one.allocation,
      ).length;
    const answered = await vi.waitFor(
      async () => {
        const found = await both();
        expect(found.status).toBe(200);
        return found;
      },
      { timeout: 10_000 },
    );
    const nodes = answered.body.nodes as readonly Record<string, string>[];
    expect(nodes).toMatchObject([
      { platform: "linux/arm64", poolName: "arm", workerName: "arm-worker-0" },
      { platform: "linux/amd64", poolName: "amd", workerName: "amd-worker-0" },
    ]);
    expect(answered.body).toMatchObject({ poolName: "arm", token: nodes[0]?.token });
    // Asked again it is the same.
    expect((await both()).body.nodes).toMatchObject(nodes.map(({ token: same }) => ({ token: same })));
    for (const node of nodes)
      expect(await ask("POST", "/api/v1/workers/release", { body: { token: node.token } })).toMatchObject({
        status: 200,
      });
    // Another job has the one: the other is not kept for it.
    const taken = await allocate({ poolName: "arm" });
    expect(taken.status).toBe(200);
    expect(await both()).toMatchObject({
      status: 202,
      body: { allocationId: expect.stringContaining(".arm.") },
    });
    expect(await held("amd")).toBe(0);
    await release(taken);
    for (const [wrong, message] of [
      [["linux/s390x"], "no workers of linux/s390x: it has linux/amd64, linux/arm64, linux/arm"],
      [["linux/arm"], "whose spec.platform is not set"],
      [["linux/amd64", "linux/amd64"], "must not name a platform twice"],
    ] as const)
      expect(await allocate({ poolName: "amd", platforms: wrong })).toMatchObject({
        status: 422,
        body: { message: expect.stringContaining(message) },
      });
    expect(await held("amd")).toBe(0);
  });

  test("answers 202 with an operation where it would take longer than the client waits", async () => {
    const first = await allocate({ poolName: "full" });
    expect(first.status).toBe(200);
    const waiting = await allocate({ poolName: "full", wait: "0s", jobId: "later" });
    expect(waiting).toMatchObject({ status: 202, body: { state: "Queued", position: 0 } });
    const { location } = waiting.headers;
    expect(location).toBe(`/api/v1/allocations/${String(waiting.body.allocationId)}`);
    expect((await ask("GET", `${location}`, { replica: 1 })).status).toBe(202);
    const other = await ask("GET", `${location}`, { token: environment.token("hubot") });
    expect(other).toMatchObject({ status: 404, body: { code: "OperationNotFound" } });
    expect(await allocate({ poolName: "full", wait: "0s" })).toMatchObject({
      status: 429,
      body: { code: "QueueFull" },
      headers: { "retry-after": "10" },
    });
    const polled = ask("GET", `${location}?wait=10s`, { replica: 1 });
    await release(first);
    const granted = await polled;
    expect(granted.status).toBe(200);
    expect((await ask("GET", `${location}`)).body.token).toBe(granted.body.token);
    expect(await ask("DELETE", `${location}`)).toMatchObject({ status: 200, body: { status: "released" } });
    await expect.poll(async () => (await ask("GET", `${location}`)).status).toBe(404);
  });

  test("gives the worker back of a client that has hung up", async () => {
    const first = await allocate({ poolName: "full" });
    const gone = new AbortController();
    const asked = allocate({ poolName: "full" }, { signal: gone.signal });
    await expect.poll(async () => queueOf("full")).toBe(1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(async () => queueOf("full")).toBe(0);
    await release(first);
  });

  test.for<[string, unknown, number, string]>([
    ["no body", undefined, 400, "InvalidJSON"],
    ["text", "poolName=ci", 400, "InvalidJSON"],
    ["a list", [], 400, "InvalidRequest"],
    ["no pool", { namespace }, 400, "InvalidRequest"],
    ["an empty pool", { poolName: "" }, 400, "InvalidRequest"],
    ["a pool that does not exist", { poolName: "nope", namespace }, 404, "PoolNotFound"],
    ["a pool in another namespace", { poolName: "ci" }, 404, "PoolNotFound"],
    ["a ttl in words", { poolName: "ci", namespace, ttl: "soon" }, 422, "InvalidField"],
    ["a ttl of nothing", { poolName: "ci", namespace, ttl: "0s" }, 422, "InvalidField"],
    ["a negative ttl", { poolName: "ci", namespace, ttl: "-1h" }, 422, "InvalidField"],
    ["a wait of a day", { poolName: "ci", namespace, wait: "24h" }, 422, "InvalidField"],
    ["a priority for administrators", { poolName: "ci", namespace, priority: 5 }, 422, "InvalidField"],
    [
      "metadata that is no map of text",
      { poolName: "ci", namespace, metadata: { a: 1 } },
      400,
      "InvalidRequest",
    ],
    ["more than 64 KiB", { poolName: "ci", filler: "x".repeat(70_000) }, 413, "BodyTooLarge"],
  ])("answers %s with JSON that says what is wrong", async ([, body, status, code]) => {
    const answered = await ask("POST", "/api/v1/workers/allocate", body === undefined ? {} : { body });
    expect(answered).toMatchObject({ status, body: { code, message: expect.any(String) } });
    expect(answered.headers["content-type"]).toBe("application/json");
  });

  async function queueOf(pool: string): Promise<number> {
    const { body } = await ask("GET", `/api/v1/pools/${pool}?namespace=${namespace}`);
    return (body.queue as { length: number }).length;
  }
});

describe("POST /api/v1/workers/lookup, renew and release", () => {
  test("are for the owner, and for administrators", async () => {
    const allocated = await allocate({ poolName: "ci", ttl: "10m" });
    const body = { token: allocated.body.token };
    const boss = environment.token("boss");
    const hubot = environment.token("hubot");
    for (const verb of ["lookup", "renew", "release"])
      expect(await ask("POST", `/api/v1/workers/${verb}`, { body, token: hubot })).toMatchObject({
        status: 403,
        body: { code: "Forbidden" },
      });
    const found = {
      workerEndpoint: "tcp://10.0.0.7:1234",
      workerName: allocated.body.workerName,
      poolName: "ci",
    };
    expect((await ask("POST", "/api/v1/workers/lookup", { body, replica: 1 })).body).toMatchObject(found);
    expect((await ask("POST", "/api/v1/workers/lookup", { body, token: boss })).body).toMatchObject(found);
    const renewed = await ask("POST", "/api/v1/workers/renew", { body: { ...body, ttl: "2h" } });
    expect(renewed.status).toBe(200);
    expect(renewed.body.token).not.toBe(allocated.body.token);
    expect(Date.parse(String(renewed.body.expiresAt))).toBeGreaterThan(Date.now() + 100 * 60_000);
    // The old token is still of the same allocation.
    expect((await ask("POST", "/api/v1/workers/lookup", { body })).status).toBe(200);
    expect(await ask("POST", "/api/v1/workers/release", { body, token: boss })).toMatchObject({
      status: 200,
    });
    expect((await ask("POST", "/api/v1/workers/lookup", { body })).body).toMatchObject({
      code: "NotAllocated",
    });
    const { data } = await environment.client.get(ConfigMap, { namespace, name: "ci-revocations" });
    expect([...readRevocations(data?.[revocationsDataKey] ?? "").values()]).toMatchObject([
      { reason: "released by boss" },
    ]);
  });

  test("know nothing of tokens that are not ours", async () => {
    const allocated = await allocate({ poolName: "ci" });
    const genuine = String(allocated.body.token);
    const forged = `${genuine.slice(0, -1)}${genuine.endsWith("A") ? "B" : "A"}`;
    for (const verb of ["lookup", "renew", "release"])
      for (const other of [forged, "x", "alloc:", genuine.slice(1), "A".repeat(52)])
        expect(await ask("POST", `/api/v1/workers/${verb}`, { body: { token: other } })).toMatchObject({
          status: 404,
          body: { code: "NotAllocated" },
        });
    await release(allocated);
  });
});

test("POST /api/v1/jobs/release ends a job that waits, or has a worker, for its owner alone", async () => {
  const end = (jobId: string, asked: Asked = {}) =>
    ask("POST", "/api/v1/jobs/release", { body: { namespace, poolName: "ci", jobId }, ...asked });
  const allocated = await allocate({ poolName: "ci", jobId: "left" });
  expect(allocated.status).toBe(200);
  expect(await end("left", { token: environment.token("boss") })).toMatchObject({
    status: 404,
    body: { code: "JobNotFound" },
  });
  expect((await end("left", { token: environment.token("hubot") })).status).toBe(403);
  expect(await end("left")).toMatchObject({ status: 200, body: { status: "released" } });
  expect((await release(allocated)).status).toBe(404);
  expect((await end("left")).status).toBe(404);
});

describe("certificates", () => {
  test("POST /api/v1/certs/request answers raw PEM, and the certificate stands for its owner", async () => {
    const answered = await ask("POST", "/api/v1/certs/request", {
      body: { pools: ["ci", `${namespace}/full`], namespace, duration: "10000h" },
    });
    expect(answered.status).toBe(200);
    const { caCert, clientCert, clientKey, endpoints } = answered.body;
    expect(caCert).toBe(environment.pools.trust);
    expect(endpoints).toEqual({
      ci: `tcp://ci.${namespace}.svc:1235`,
      [`${namespace}/full`]: `tcp://full.${namespace}.svc:1235`,
    });
    const { notAfter, subject } = inspect(String(clientCert));
    expect(notAfter).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
    expect(subject.commonName).toBe("octocat (by github)");
    expect(tokenIn(inspect(String(clientCert)))).toEqual({ has: "none" });
    const pair = { certificate: String(clientCert), key: String(clientKey) };
    const allocated = await allocate({ poolName: "ci" }, { token: undefined, pair });
    expect(allocated.status).toBe(200);
    // It is the same owner, however it proves who it is.
    expect((await release(allocated)).status).toBe(200);
    expect((await allocate({ poolName: "ci" }, { token: undefined, pair: pairOf(allocated) })).status).toBe(
      401,
    );
  });

  test("are refused for keys that are too weak", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
    const folder = await mkdtemp(join(tmpdir(), "csr-"));
    const file = join(folder, "key.pem");
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
    const csr = execFileSync("openssl", ["req", "-new", "-key", file, "-subj", "/CN=me"], {
      encoding: "utf8",
    });
    await rm(folder, { recursive: true });
    expect(
      await ask("POST", "/api/v1/certs/request", { body: { pools: ["ci"], namespace, csr } }),
    ).toMatchObject({ status: 422, body: { message: expect.stringContaining("2048") } });
  });

  test("are refused for pools of others and for those that do not exist alike", async () => {
    for (const pool of ["nope", "kube-system/ci"])
      expect(
        await ask("POST", "/api/v1/certs/request", { body: { pools: [pool], namespace } }),
      ).toMatchObject({ status: 403 });
    expect((await ask("POST", "/api/v1/certs/request", { body: { pools: [] } })).status).toBe(400);
    expect((await ask("POST", "/api/v1/certs/request", { body: { pools: ["a/b/c"] } })).status).toBe(422);
    const hubot = await ask("POST", "/api/v1/certs/request", {
      body: { pools: ["ci"], namespace },
      token: environment.token("hubot"),
    });
    expect(hubot.status).toBe(403);
  });

  test("GET /api/v1/certs/{name} shows a pool's certificate without its key", async () => {
    const { authority } = environment.issuer;
    const { certificate, key } = authority.issue({
      commonName: "gw",
      usages: ["server"],
      validFor: 60_000,
    });
    await environment.pools.pool("shown", { auth });
    const path = `/api/v1/certs/shown?namespace=${namespace}`;
    await expect.poll(async () => (await ask("GET", path)).body.code).toBe("CertificateNotFound");
    const data = {
      "tls.crt": Buffer.from(certificate).toString("base64"),
      "tls.key": Buffer.from(key).toString("base64"),
    };
    await environment.client.patch(
      Secret,
      { namespace, name: "shown-tls" },
      { type: "merge", patch: { data } },
    );
    const answered = await ask("GET", path);
    expect(answered.body).toMatchObject({
      name: "shown-tls",
      namespace,
      caCert: environment.pools.trust,
      certificate,
    });
    expect(answered.text).not.toContain("PRIVATE");
    expect((await ask("GET", `/api/v1/certs/shown-tls?namespace=${namespace}`)).body).toEqual(answered.body);
    expect((await ask("GET", path, { token: environment.token("hubot") })).status).toBe(403);
    expect((await ask("GET", `/api/v1/certs/nope?namespace=${namespace}`)).status).toBe(404);
  });

  function pairOf({ body }: Answered) {
    return { certificate: pem(body.clientCert), key: pem(body.clientKey) };
  }
});

describe("pools", () => {
  test("GET /api/v1/pools lists those that the caller may look at", async () => {
    const { body } = await ask("GET", "/api/v1/pools");
    expect(body.pools).toContainEqual({
      name: "ci",
      namespace,
      endpoint: `tcp://ci.${namespace}.svc:1235`,
      status: "Pending",
    });
    expect((await ask("GET", "/api/v1/pools", { token: environment.token("hubot") })).body).toEqual({
      pools: [],
    });
    expect((await ask("GET", "/api/v1/pools?namespace=other")).body).toEqual({ pools: [] });
  });

  test("GET /api/v1/pools/{name} says what there is", async () => {
    const { body } = await ask("GET", `/api/v1/pools/ci?namespace=${namespace}`);
    expect(body).toMatchObject({ name: "ci", queue: { length: 0 }, defaultTTL: "1h", maxTTL: "24h" });
    expect((await ask("GET", "/api/v1/pools/ci")).status).toBe(404);
    expect(
      (await ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { token: environment.token("hubot") }))
        .status,
    ).toBe(403);
  });

  test("POST /api/v1/pools/{name}/wake has a worker started", async () => {
    await environment.pools.pool("cold", { scaling: { min: 0, max: 1 }, auth });
    await expect
      .poll(async () => (await ask("GET", `/api/v1/pools/cold?namespace=${namespace}`)).status)
      .toBe(200);
    const answered = await ask("POST", `/api/v1/pools/cold/wake?namespace=${namespace}`);
    expect(answered.body).toEqual({
      endpoint: `tcp://cold.${namespace}.svc:1235`,
      poolName: "cold",
      ready: true,
    });
    await expect
      .poll(async () => (await ask("GET", `/api/v1/pools/cold?namespace=${namespace}`)).body.ready)
      .toBe(true);
  });

  test("POST /api/v1/allocate is the older way", async () => {
    for (const body of [
      { poolName: "ci", duration: "1h" },
      { poolSelector: { labels: { team: "shop" } }, useExistingCerts: false },
    ]) {
      const answered = await ask("POST", "/api/v1/allocate", { body: { namespace, ...body } });
      expect(answered.body).toMatchObject({
        endpoint: `tcp://ci.${namespace}.svc:1235`,
        poolName: "ci",
        ready: true,
        workerName: expect.stringMatching(/^ci-worker-/),
      });
      expect(pem(answered.body.clientKey)).toContain("PRIVATE KEY");
      await ask("POST", "/api/v1/workers/release", { body: { token: answered.body.allocationToken } });
    }
    const refused: [object, number][] = [
      [{}, 400],
      [{ poolSelector: { labels: { team: "other" } } }, 404],
      [{ poolName: "ci", useExistingCerts: true, certSecretName: "ci-client-certs" }, 422],
    ];
    for (const [body, status] of refused)
      expect((await ask("POST", "/api/v1/allocate", { body: { namespace, ...body } })).status).toBe(status);
  });
});

describe("everything else", () => {
  test("GET /api/v1/health needs no credentials", async () => {
    const answered = await environment.ask("GET", "/api/v1/health");
    expect([answered.status, answered.text]).toEqual([200, "OK"]);
  });

  test("is 404, or 405 with what is allowed", async () => {
    expect(await ask("GET", "/api/v2/pools")).toMatchObject({ status: 404, body: { code: "NotFound" } });
    expect(await ask("GET", "/api/v1/workers/allocate")).toMatchObject({
      status: 405,
      headers: { allow: "POST" },
    });
    expect(await ask("PUT", "/api/v1/pools")).toMatchObject({ status: 405, headers: { allow: "GET" } });
  });
});

/** What a test allocated has been released: the next one finds idle workers. */
afterEach(() =>
  vi.waitFor(async () => {
    expect(
      (await environment.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { token })).body.ready,
    ).toBe(true);
  }),
);

test("the OpenAPI document describes every route, and every answer here is as it says", async () => {
  const { body } = await environment.ask("GET", "/api/v1/openapi.json");
  const routes = apiRoutes({ options: {} } as unknown as Service);
  const paths = body.paths as Record<string, Record<string, unknown>>;
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  expect(JSON.stringify(body)).not.toContain('"$schema"');
  expect(answers.length).toBeGreaterThan(80);
  const seen = new Set<string>();
  for (const { method, path, answered } of answers) {
    const match = matchRoute(routes, method, path);
    if (match.is !== "route") continue;
    const known = match.route.answers[answered.status];
    // Sizes and methods are HTTP's own business.
    if (answered.status === 413) continue;
    expect(known, `${method} ${match.route.path} answered ${answered.status}`).toBeDefined();
    if (known?.schema) expect(() => z.parse(strictly(known.schema), answered.body)).not.toThrow();
    if (answered.status === 200) seen.add(`${method} ${match.route.path}`);
  }
  const guarded = routes.filter(({ access }) => access === "authenticated");
  expect([...seen].sort()).toEqual(guarded.map(({ method, path }) => `${method} ${path}`).sort());
});

/** A schema that refuses fields it does not name: what is answered is documented. */
function strictly(schema: z.ZodType | undefined): z.ZodType {
  if (schema instanceof z.ZodObject) return schema.strict();
  return schema ?? z.unknown();
}
