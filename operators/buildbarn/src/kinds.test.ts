import { type AnyKind, ApiError } from "@windlass/runtime";
import { checkDefinitions, startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnBrowser,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  kinds,
} from "./index.ts";
import { badChanges, badResources, goodVolumeChanges, originalManifests } from "./kinds.fixture.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(...kinds);
  namespace = await cluster.createNamespace();
}, 60_000);
afterAll(() => cluster.close());

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

test("a real API server would take the definitions, and kubectl apply too", async () => {
  await expect(checkDefinitions(...kinds)).resolves.toBeUndefined();
  for (const kind of kinds) expect(JSON.stringify(kind.crd()).length).toBeLessThan(200_000);
});

test.for(originalManifests.map((one) => [one.kind.kind, one] as const))(
  "the original's %s applies as it is",
  async ([, { kind, name, spec }]) => {
    const made = await cluster.client.apply<AnyKind>(
      kind,
      { metadata: { namespace, name }, spec },
      { fieldManager: "test" },
    );
    expect(made).toMatchObject({ spec });
  },
);

test.for([
  "busybox",
  "registry.example.com:5000/a/b_c--d:v1.2-3",
  "[fd00::1]:5000/storage:1",
  `ghcr.io/buildbarn/bb-storage:1@sha256:${"0".repeat(64)}`,
])("the image %s is taken", async (image) => {
  const { client } = cluster;
  const key = { namespace, name: "image" };
  expect((await client.create(BuildbarnStorage, { metadata: key, spec: { image } })).spec.image).toBe(image);
  await client.delete(BuildbarnStorage, key);
});

test("what is left out has the original's defaults", async () => {
  const bare = { metadata: { namespace, name: "bare" } };
  const { client } = cluster;
  expect((await client.create(BuildbarnScheduler, bare)).spec).toMatchObject({
    replicas: 1,
    serviceType: "ClusterIP",
  });
  expect((await client.create(BuildbarnWorker, bare)).spec).toMatchObject({
    replicas: 8,
    instance: "ubuntu22-04",
    runnerImage: "ghcr.io/catthehacker/ubuntu:act-22.04",
  });
  expect((await client.create(BuildbarnStorage, bare)).spec).toMatchObject({
    replicas: 2,
    cas: { volume: { size: "33Gi" } },
    ac: { volume: { size: "1Gi" } },
  });
  expect((await client.create(BuildbarnFrontend, bare)).spec).toMatchObject({
    replicas: 3,
    serviceType: "LoadBalancer",
  });
  expect((await client.create(BuildbarnBrowser, bare)).spec).toMatchObject({
    replicas: 3,
    serviceType: "ClusterIP",
  });
});

test.for(badResources)("refused: $kind.kind with $why", async ({ kind, field, name = "bad", spec = {} }) => {
  const object = { metadata: { namespace, name }, spec };
  const { message } = await refusal(cluster.client.create<AnyKind>(kind, object));
  expect(message).toContain(field);
});

test.for(badChanges.map((one, index) => ({ ...one, index })))(
  "a change is refused: $kind.kind to $why",
  async ({ kind, field, from, to, index }) => {
    const metadata = { namespace, name: `changed-${index}` };
    await cluster.client.create<AnyKind>(kind, { metadata, spec: from });
    const patch = { type: "merge", patch: { spec: to } } as const;
    const { message } = await refusal(cluster.client.patch<AnyKind>(kind, metadata, patch));
    expect(message).toContain(field);
  },
);

test.for(goodVolumeChanges.map((one, index) => ({ ...one, index })))(
  "volumes may ask for more: $to",
  async ({ from, to, index }) => {
    const metadata = { namespace, name: `grown-${index}` };
    await cluster.client.create<AnyKind>(BuildbarnStorage, { metadata, spec: from });
    const patch = { type: "merge", patch: { spec: to } } as const;
    await expect(cluster.client.patch<AnyKind>(BuildbarnStorage, metadata, patch)).resolves.toMatchObject({
      spec: to,
    });
  },
);

test("a change that empties the cache passes with an explicit word", async () => {
  const metadata = { namespace, name: "flushed" };
  await cluster.client.create(BuildbarnStorage, { metadata });
  const spec = { allowCacheFlush: true, version: "2025-02", cas: { blocks: { old: 9 } } } as const;
  const changed = await cluster.client.patch(BuildbarnStorage, metadata, { type: "merge", patch: { spec } });
  expect(changed.spec.cas.blocks.old).toBe(9);
});

test("kubectl scale sets how many workers there are", async () => {
  const metadata = { namespace, name: "scaled" };
  await cluster.client.create(BuildbarnWorker, { metadata });
  const patch = { type: "merge", patch: { spec: { replicas: 3 } } } as const;
  await cluster.client.patch(BuildbarnWorker, metadata, patch, { subresource: "scale" });
  expect((await cluster.client.get(BuildbarnWorker, metadata)).spec.replicas).toBe(3);
});
