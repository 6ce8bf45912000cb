import { isConflict } from "@windlass/runtime";
import { checkDefinitions, startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuildKitOIDCConfig, BuildKitPool, BuildKitWorker, claimed, isClaimable } from "./index.ts";
import { kinds, originalOidcSample, originalSample } from "./kinds.fixture.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(...kinds);
  namespace = await cluster.createNamespace();
});
afterAll(() => cluster.close());

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );

test("a real API server would take the definitions", async () => {
  await expect(checkDefinitions(...kinds)).resolves.toBeUndefined();
});

test("the original's sample applies as it is, and every field has a default", async () => {
  const { client } = cluster;
  const metadata = { ...originalSample.metadata, namespace };
  const pool = await client.apply(BuildKitPool, { ...originalSample, metadata }, { fieldManager: "test" });
  expect(pool.spec).toMatchObject({
    scaling: { mode: "auto", min: 0, max: 10, scaleDownDelay: "15m" },
    size: "md",
    profile: "rootless",
    tls: { enabled: true, mode: "auto", auto: { serverCertDuration: "8760h" } },
    networking: { serviceType: "ClusterIP", port: 1235 },
    gateway: { enabled: true, replicas: 1, tokenTTL: "1h", maxTokenTTL: "24h" },
    observability: { metrics: { port: 9090 } },
  });
  const oidc = { ...originalOidcSample, metadata: { ...originalOidcSample.metadata, namespace } };
  const config = await client.apply(BuildKitOIDCConfig, oidc, { fieldManager: "test" });
  expect(config.spec).toMatchObject({ claimsMapping: { user: "actor" }, algorithms: ["RS256", "ES256"] });
});

test("a pool without a spec has the same defaults", async () => {
  const pool = await cluster.client.create(BuildKitPool, { metadata: { namespace, name: "bare" } });
  expect(pool.spec).toEqual(BuildKitPool.make("bare", {}).spec);
});

test("kubectl scale sets the warm minimum", async () => {
  const key = { namespace, name: "scaled" };
  await cluster.client.create(BuildKitPool, { metadata: key, spec: { scaling: { max: 5 } } });
  const scale = cluster.client.subresource(BuildKitPool, key, "scale");
  await scale.patch({ type: "merge", patch: { spec: { replicas: 3 } } });
  expect((await cluster.client.get(BuildKitPool, key)).spec.scaling.min).toBe(3);
});

const allocation = (jobId: string) => ({
  jobId,
  tokenHash: "0".repeat(64),
  requestedBy: "someone",
  allocatedAt: "2026-11-16T10:00:00.000Z",
  expiresAt: "2026-11-16T11:00:00.000Z",
});

test("of two who claim a worker that both have read, one is refused", async () => {
  const { client } = cluster;
  const metadata = { namespace, name: "my-pool-worker-0" };
  const made = await client.create(BuildKitWorker, { metadata, spec: { poolRef: { name: "my-pool" } } });
  expect(isClaimable(made)).toBe(false);
  const status = { phase: "Idle", observedGeneration: made.metadata.generation ?? 0 } as const;
  const idle = await client.update(BuildKitWorker, { ...made, status }, { subresource: "status" });
  expect(isClaimable(idle)).toBe(true);
  await client.update(BuildKitWorker, claimed(idle, allocation("one")));
  const second = await refusal(client.update(BuildKitWorker, claimed(idle, allocation("two"))));
  expect(isConflict(second)).toBe(true);
  const after = await client.get(BuildKitWorker, metadata);
  expect(after.spec.allocation?.jobId).toBe("one");
  expect(isClaimable(after)).toBe(false);
});

test("a worker keeps its pool and its slot, and takes no token in clear text", async () => {
  const { client } = cluster;
  const metadata = { namespace, name: "my-pool-worker-1" };
  const spec = { poolRef: { name: "my-pool" }, slot: 1 };
  const made = await client.create(BuildKitWorker, { metadata, spec });
  const moved = { ...made, spec: { ...made.spec, poolRef: { name: "other" } } };
  expect(String(await refusal(client.update(BuildKitWorker, moved)))).toContain("spec.poolRef");
  const reslotted = { ...made, spec: { ...made.spec, slot: 2 } };
  expect(String(await refusal(client.update(BuildKitWorker, reslotted)))).toContain("spec.slot");
  const clear = { ...allocation("one"), tokenHash: "a token in clear text" };
  expect(String(await refusal(client.update(BuildKitWorker, claimed(made, clear))))).toContain("tokenHash");
});
