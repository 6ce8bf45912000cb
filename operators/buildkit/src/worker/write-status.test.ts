import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { kinds } from "../kinds.fixture.ts";
import { BuildKitWorker, claimed, released, untracked, type Worker } from "./index.ts";
import { writeStatus } from "./write-status.ts";

const start = Date.UTC(2026, 0, 1);
const allocation = {
  jobId: "job",
  tokenHash: "a".repeat(64),
  requestedBy: "anna",
  allocatedAt: "2026-01-01T00:00:00Z",
  expiresAt: "2026-01-01T01:00:00Z",
};
const ready = (status: "True" | "False") => [{ type: "Ready", status, reason: "Why", message: "" }] as const;

let cluster: TestCluster;
let worker: Worker;
let made = 0;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
});
afterAll(() => cluster.close());

beforeEach(async () => {
  const metadata = { namespace: "default", name: `worker-${made++}` };
  worker = await cluster.client.create(BuildKitWorker, { metadata, spec: { poolRef: { name: "ci" } } });
});

/** Writes a status over what the server has, and reads it again. */
async function write(status: Parameters<typeof writeStatus>[2], now = start): Promise<Worker> {
  await writeStatus(cluster.client, await read(), status, now);
  return await read();
}

async function read(): Promise<Worker> {
  return await cluster.client.get(BuildKitWorker, worker.metadata);
}

test("a status is as it was written last: what is left out is gone", async () => {
  await write({ phase: "Idle", idleSince: "2026-01-01T00:00:00Z", conditions: [...ready("True")] });
  const { status } = await write({ phase: "Allocated", activeBuilds: 0, conditions: [...ready("True")] });
  expect(status).toEqual({
    phase: "Allocated",
    activeBuilds: 0,
    observedGeneration: 1,
    conditions: [{ ...ready("True")[0], lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 }],
  });
});

test("a condition keeps its time until its status is another", async () => {
  const timeOf = ({ status }: Worker) => status?.conditions?.[0]?.lastTransitionTime;
  await write({ phase: "Idle", conditions: [...ready("True")] });
  const later = start + 60_000;
  expect(timeOf(await write({ phase: "Running", conditions: [...ready("True")] }, later))).toBe(
    "2026-01-01T00:00:00Z",
  );
  expect(timeOf(await write({ phase: "Failed", conditions: [...ready("False")] }, later))).toBe(
    "2026-01-01T00:01:00Z",
  );
});

test("nothing is written if nothing is new", async () => {
  const status = { phase: "Idle", conditions: [...ready("True")] } as const;
  const before = await write(status);
  const after = await write(status, start + 60_000);
  expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test("a namesake that was made since is not written to", async () => {
  const { uid: _uid, ...metadata } = worker.metadata;
  const gone: Worker = { ...worker, metadata: { ...metadata, uid: "00000000-0000-4000-8000-000000000000" } };
  await expect(writeStatus(cluster.client, gone, { phase: "Failed" }, start)).rejects.toMatchObject({
    code: "API_INVALID",
  });
  expect((await read()).status).toBeUndefined();
});

test("the server keeps no track of the managers of a worker's fields once it was given out", async () => {
  await write({ phase: "Idle", conditions: [...ready("True")] });
  const { client } = cluster;
  const taken = await client.update(BuildKitWorker, untracked(claimed(await read(), allocation)));
  expect(taken.metadata.managedFields ?? []).toEqual([]);
  const back = await client.update(BuildKitWorker, untracked(released(taken)));
  const { metadata, spec, status } = await write({
    phase: "Idle",
    allocationCount: 1,
    conditions: [...ready("True")],
  });
  expect(metadata.managedFields ?? []).toEqual([]);
  expect(spec.lastAllocation?.tokenHash).toBe(allocation.tokenHash);
  expect(status).toMatchObject({ allocationCount: 1, observedGeneration: back.metadata.generation });
});
