import { type Clock, systemClock, systemRandom } from "@windlass/clock";
import { Secret } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Replicas } from "../testing/replicas.ts";
import { ApiTestEnvironment } from "./api/api-environment.fixture.ts";
import { clusterSecrets, poolNames } from "./names.ts";
import { BuildKitPool } from "./pool/index.ts";
import { textData } from "./secret-data.ts";
import {
  addKey,
  type Keyring,
  keyringDataKey,
  readKeyring,
  verifyToken,
  writeKeyring,
} from "./tokens/index.ts";
import { isClaimable } from "./worker/index.ts";
import { BuildKitWorker } from "./worker/worker.ts";

/** How long replicas of the operator go on with a ring that they have read. */
const ringKeptMs = 30_000;
const hour = 3_600_000;

let skippedMs = 0;
/** The machine's, except for what a test skips of the time that rings are kept. */
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() + skippedMs,
  schedule: (...args) => systemClock.schedule(...args),
};

const api = await ApiTestEnvironment.start();
const { client, namespace } = api;
// The operator itself does what this one pretends to do.
await api.pools.controller.stop();
const operator = new Replicas(api.pools.cluster, {
  gatewayImage: "windlass/buildkit:dev",
  probe: { builds: async () => ({ is: "known", count: 0 }), prune: async () => true },
  fetchJson: () => Promise.reject(new Error("there is no issuer")),
  clock,
});
beforeAll(() => operator.start());
afterAll(async () => {
  await operator.stop();
  await api[Symbol.asyncDispose]();
});

const cluster = { namespace: "buildkit-system", name: clusterSecrets.tokenKeys };
const own = { namespace, name: poolNames("ci").tokenKeysSecret };

async function ringIn(key: typeof own): Promise<Keyring> {
  return readKeyring(textData(await client.get(Secret, key))[keyringDataKey] ?? "");
}

async function rewrite(key: typeof own, change: (ring: Keyring) => Keyring): Promise<void> {
  const text = writeKeyring(change(await ringIn(key)));
  const data = { [keyringDataKey]: Buffer.from(text).toString("base64") };
  await client.patch(Secret, key, { type: "merge", patch: { data } });
}

const older = (ring: Keyring) =>
  ring.map((one, index) => ({ ...one, addedAt: Date.now() - hour * (ring.length - index) }));

let looks = 0;
const look = () =>
  client.patch(
    BuildKitPool,
    { namespace, name: "ci" },
    { type: "merge", patch: { spec: { gateway: { tokenTTL: `${++looks}h` } } } },
  );

async function allocated(): Promise<string> {
  const asked = { token: api.token(), body: { namespace, poolName: "ci", wait: "5s" } };
  const answered = await api.ask("POST", "/api/v1/workers/allocate", asked);
  expect(answered, answered.text).toMatchObject({ status: 200 });
  const token = String(answered.body.token);
  const released = { token: api.token(), body: { token } };
  expect((await api.ask("POST", "/api/v1/workers/release", released)).status).toBe(200);
  return token;
}

const keyIdOf = (token: string) => Buffer.from(token, "base64url").readUInt16BE(1);

test("a new token key comes to a pool by whichever replica leads, settles there, signs, and the old one's tokens hold", {
  timeout: 90_000,
}, async () => {
  const auth = { rbac: { rules: [{ users: ["octocat"] }] } };
  await client.create(BuildKitPool, {
    metadata: { namespace, name: "ci" },
    spec: { scaling: { min: 2, max: 4 }, auth },
  });
  await vi.waitFor(async () => {
    const { items } = await client.list(BuildKitWorker, { namespace });
    expect(items.filter(isClaimable)).toHaveLength(2);
  }, 20_000);
  await waitFor(client, Secret, own, (one) => one.data?.[keyringDataKey], { timeout: 5_000 });
  const before = await allocated();
  expect(keyIdOf(before)).toBe(1);

  await rewrite(cluster, (ring) => addKey(older(ring), Date.now() - 1_000, systemRandom));
  const { addedAt } = (await ringIn(cluster)).at(-1) ?? { addedAt: Number.NaN };
  await operator.killLeader();
  skippedMs += ringKeptMs;
  await look();
  await vi.waitFor(async () => expect(await ringIn(own)).toHaveLength(2), 20_000);
  expect((await ringIn(own)).at(-1)?.addedAt).toBeGreaterThan(addedAt);

  // The operator goes on with the cluster's ring as it has read it, in which the key is new.
  await rewrite(cluster, older);
  await rewrite(own, older);
  await look();
  await vi.waitFor(async () => expect((await ringIn(own)).at(-1)?.addedAt).toBe(addedAt), 5_000);
  expect(keyIdOf(await allocated())).toBe(1);

  // Once it has read the ring again, a key that is as old in both signs.
  skippedMs += ringKeptMs;
  await look();
  await rewrite(own, older);
  await vi.waitFor(async () => expect(keyIdOf(await allocated())).toBe(2), {
    timeout: 25_000,
    interval: 2_000,
  });
  const gateways = await ringIn(own);
  expect(verifyToken(gateways, before, Date.now())).toMatchObject({ is: "valid" });
  expect(verifyToken(gateways, await allocated(), Date.now())).toMatchObject({ is: "valid" });
});
