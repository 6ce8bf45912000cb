import { startCluster, type TestCluster, waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Replica } from "../../testing/replica.ts";
import { StandInFrontend } from "../../testing/stand-in-frontend.ts";
import { BuildbarnCluster, BuildbarnFrontend, kinds } from "../index.ts";
import { probeNowAnnotation } from "./controller.ts";

let cluster: TestCluster;
let replica: Replica;
let frontend: StandInFrontend;
let namespace: string;
const wait = { timeout: 20_000 };
const key = () => ({ namespace, name: "bb-frontend" });

beforeAll(async () => {
  frontend = await StandInFrontend.start();
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
  namespace = await cluster.createNamespace();
  replica = new Replica(cluster, [namespace], {}, { frontendAddress: () => frontend.address });
  await replica.start();
  await cluster.client.create(BuildbarnCluster, {
    metadata: { namespace, name: "bb" },
    spec: {
      frontend: { probe: { interval: "1h", timeout: "5s" } },
      workers: [{ name: "linux", replicas: 1 }],
    },
  });
}, 60_000);
afterAll(async () => {
  await replica.stop();
  await cluster.close();
  await frontend[Symbol.asyncDispose]();
});

const ask = (value: string) =>
  cluster.client.patch(BuildbarnFrontend, key(), {
    type: "merge",
    patch: { metadata: { annotations: { [probeNowAnnotation]: value } } },
  });
async function answered(request: string) {
  const { client } = cluster;
  await waitFor(
    client,
    BuildbarnFrontend,
    key(),
    ({ status }) => status?.lastProbe?.request === request,
    wait,
  );
  return await client.get(BuildbarnFrontend, key());
}

test("a set is tried once it is up, and its frontend reports the result", { timeout: 60_000 }, async () => {
  await waitForCondition(cluster.client, BuildbarnFrontend, key(), "ProbeSucceeded", "True", wait);
  const { status } = await cluster.client.get(BuildbarnFrontend, key());
  expect(status?.lastProbe).toMatchObject({ ok: true, cacheHit: true, worker: "bb-linux" });
  // What the other controller reports of it is still there.
  expect(status).toMatchObject({ state: "Ready", endpoint: expect.stringContaining("grpc://") });
  expect(frontend.ran).toBe(1);
});

test("an annotation asks for a probe now, once for each value; a failure is reported with its reason", {
  timeout: 60_000,
}, async () => {
  frontend.fault = "actionFails";
  await ask("first");
  const { status } = await answered("first");
  expect(status?.lastProbe).toMatchObject({ ok: false, message: expect.stringContaining("status 127") });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: "ProbeSucceeded", status: "False", reason: "ActionFailed" }),
  );
  frontend.fault = "none";
  await ask("second");
  expect((await answered("second")).status?.lastProbe?.ok).toBe(true);
});

test("between probes nothing is written", { timeout: 60_000 }, async () => {
  await waitForCondition(cluster.client, BuildbarnCluster, { namespace, name: "bb" }, "Ready", "True", wait);
  replica.writes = [];
  const { ran } = frontend;
  await cluster.client.patch(BuildbarnFrontend, key(), {
    type: "merge",
    patch: { metadata: { annotations: { touched: "1" } } },
  });
  await waitFor(
    cluster.client,
    BuildbarnFrontend,
    key(),
    ({ metadata }) => metadata.annotations?.touched === "1",
    wait,
  );
  expect(replica.writes.filter((write) => write.includes("/status"))).toEqual([]);
  expect(frontend.ran).toBe(ran);
});
