import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { applyManifest, asManifest } from "@windlass/client";
import { startCluster, type TestCluster } from "@windlass/testing";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badManifests } from "../testing/bad-manifests.ts";
import { ElastiService } from "./service/elasti-service.ts";

const samples = join(import.meta.dirname, "..", "config", "samples");
const files = await readdir(samples);

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(ElastiService);
  namespace = await cluster.createNamespace("elasti-samples");
});
afterAll(() => cluster.close());

test.for(files)("the sample %s is taken as it is", async (file) => {
  const documents = loadAll(await readFile(join(samples, file), "utf8"));
  const manifests = documents.map((document) => asManifest(document, file));
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests)
    await applyManifest(
      cluster.client,
      { ...manifest, metadata: { ...manifest.metadata, namespace } },
      { fieldValidation: "Strict" },
    );
});

test.for(badManifests)("refused, with the field named: $why", async ({ field, spec }) => {
  const manifest = { metadata: { namespace, name: "bad" }, ...(spec && { spec }) } as Parameters<
    typeof cluster.client.create<typeof ElastiService>
  >[1];
  await expect(cluster.client.create(ElastiService, manifest)).rejects.toThrow(field);
});
