import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, applyManifest, asManifest } from "@windlass/client";
import { startCluster, type TestCluster } from "@windlass/testing";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badManifests } from "../testing/bad-manifests.ts";
import { kinds, originalOidcSample, originalSample } from "./kinds.fixture.ts";

const folder = join(import.meta.dirname, "..", "config", "samples");
const files = (await readdir(folder)).toSorted();
const read = async (file: string) =>
  loadAll(await readFile(join(folder, file), "utf8")).map((one) => asManifest(one, file));

let cluster: TestCluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(...kinds);
  namespace = await cluster.createNamespace();
});
afterAll(() => cluster.close());

test.for(files)("the sample applies: %s", async (file) => {
  const objects = await read(file);
  expect(objects).not.toEqual([]);
  for (const object of objects) {
    const metadata = { ...object.metadata, namespace };
    const applied = await applyManifest(cluster.client, { ...object, metadata });
    expect(applied).toMatchObject({ kind: object.kind, spec: object.spec });
  }
});

test("two of the samples are the original's, to the letter", async () => {
  expect(await read("my-pool.yaml")).toEqual([originalSample]);
  expect(await read("github-actions-oidc.yaml")).toEqual([originalOidcSample]);
});

test.for(badManifests)("refused: $why", async ({ field, kind, name, spec }) => {
  const error = await cluster.client
    .create(kind, { metadata: { namespace, name }, spec })
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).status.code).toBe(422);
  expect((error as ApiError).message).toContain(field);
});

test("there are bad manifests of every kind, forty at least", () => {
  expect(badManifests.length).toBeGreaterThanOrEqual(40);
  expect(new Set(badManifests.map(({ kind }) => kind.kind)).size).toBe(kinds.length);
});
