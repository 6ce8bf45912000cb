import { Deployment } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { ObjectsInMemory } from "../testing/objects-in-memory.ts";
import { existing } from "../testing/test-reconcile.ts";
import { type HandOver, handOver } from "./hand-over.ts";

const metadata = { namespace: "web", name: "api", uid: "u", resourceVersion: "7" };
const live = existing(Deployment, {
  metadata: { ...metadata, annotations: { size: "5", other: "x" } },
  spec: { replicas: 5, paused: true },
}).object;
const wanted = { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "web", name: "api" } };
const ownsReplicas = { apiVersion: "apps/v1", fields: { "f:spec": { "f:replicas": {}, "f:paused": {} } } };

async function writesOf(given: Partial<HandOver>) {
  const { client, writes } = new ObjectsInMemory([{ kind: Deployment, object: live }], "web", []);
  const fields = { spec: { replicas: true } };
  const usual = { client, kind: Deployment, wanted, fields, live, owned: ownsReplicas, metadataOnly: false };
  await handOver({ ...usual, fieldManager: "api.windlass", ...given });
  return writes.map(({ verb, fieldManager, body }) => ({ verb, fieldManager, body }));
}

test("a field that we own and no longer want is held at its value, in the version that was seen", async () => {
  const held = {
    verb: "apply",
    fieldManager: "api.windlass-handover",
    body: { metadata, spec: { replicas: 5 } },
  };
  expect(await writesOf({})).toEqual([held]);
  // Where the cache has metadata alone, the value is the server's.
  const { spec: _spec, ...bare } = live;
  expect(await writesOf({ live: bare, metadataOnly: true })).toEqual([held]);
});

test("fields of the metadata are held as well, each by itself", async () => {
  const fields = { metadata: { annotations: { size: true, gone: true } } };
  const owned = {
    apiVersion: "apps/v1",
    fields: { "f:metadata": { "f:annotations": { "f:size": {}, "f:gone": {}, "f:other": {} } } },
  };
  expect(await writesOf({ fields, owned })).toMatchObject([
    { body: { metadata: { ...metadata, annotations: { size: "5" } } } },
  ]);
});

test("nothing is written for a field that is wanted, is not ours, or is not chosen", async () => {
  const kept = { ...wanted, spec: { replicas: 0 } };
  expect(await writesOf({ wanted: kept })).toEqual([]);
  expect(
    await writesOf({ owned: { apiVersion: "apps/v1", fields: { "f:spec": { "f:paused": {} } } } }),
  ).toEqual([]);
  expect(await writesOf({ owned: undefined })).toEqual([]);
  expect(await writesOf({ fields: { spec: {} } })).toEqual([]);
});
