import { isNotFound, manager } from "@windlass/runtime";
import {
  PersistentVolumeClaim,
  type PersistentVolumeClaimSpecInput,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { startCluster, waitForCondition, waitForDeletion } from "@windlass/testing";
import { expect, test } from "vitest";
import { Archive, archive } from "./archive.ts";

const spec: PersistentVolumeClaimSpecInput = {
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
};

test("a volume that was there is adopted and given back; an account that was there is left alone", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.install(Archive);
  await cluster.run("archive-operator", (options) => manager(options).add(archive));
  const key = { namespace: await cluster.createNamespace(), name: "letters" };
  const claim = await client.create(PersistentVolumeClaim, { metadata: key, spec });
  const account = await client.create(ServiceAccount, { metadata: key });
  await client.create(Archive, { metadata: key, spec: {} });
  const refused = await waitForCondition(client, Archive, key, "Ready", "False");
  expect(refused.status?.conditions?.[0]).toMatchObject({
    reason: "ChildAlreadyExists",
    message: expect.stringContaining("ServiceAccount"),
  });
  expect((await client.get(PersistentVolumeClaim, key)).metadata).toMatchObject({
    uid: claim.metadata.uid,
    ownerReferences: [{ kind: "Archive", name: "letters" }],
  });
  await client.delete(Archive, key);
  await waitForDeletion(client, Archive, key);
  await expect(client.get(PersistentVolumeClaim, key)).rejects.toSatisfy(isNotFound);
  expect((await client.get(ServiceAccount, key)).metadata.uid).toBe(account.metadata.uid);
}, 60_000);
