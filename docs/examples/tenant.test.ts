import { manager } from "@windlass/runtime";
import { Namespace, ResourceQuota, RoleBinding } from "@windlass/runtime/kinds";
import { startCluster, testReconcile, waitFor, waitForCondition, waitForDeletion } from "@windlass/testing";
import { expect, test } from "vitest";
import { Tenant, tenant } from "./tenant.ts";

test("a tenant wants a quota and a binding in its namespace, once that is there", async () => {
  const { child, status } = await testReconcile(tenant, Tenant.make("acme", { pods: 3, admins: ["alice"] }));
  expect(child(Namespace)?.metadata.name).toBe("tenant-acme");
  expect(child(ResourceQuota)).toMatchObject({
    metadata: { namespace: "tenant-acme" },
    spec: { hard: { pods: "3" } },
  });
  expect(child(RoleBinding)?.subjects?.map(({ name }) => name)).toEqual(["alice"]);
  expect(status?.namespace).toBe("tenant-acme");
});

test("a tenant has a namespace with a quota and its administrators, and all go with it", async () => {
  await using cluster = await startCluster();
  await cluster.install(Tenant);
  await cluster.run("tenant", (options) => manager(options).add(tenant));
  const { client } = cluster;
  const key = { name: `acme-${Date.now().toString(36)}` };
  await client.create(Tenant, { metadata: key, spec: { admins: ["alice"] } });
  await waitForCondition(client, Tenant, key, "Ready");
  const namespace = `tenant-${key.name}`;
  const quota = await waitFor(client, ResourceQuota, { namespace, name: "tenant" }, (one) => one);
  expect(quota.spec?.hard).toEqual({ pods: "20" });
  const admins = await client.get(RoleBinding, { namespace, name: "tenant-admins" });
  expect(admins.subjects).toMatchObject([{ kind: "User", name: "alice" }]);
  await client.patch(Tenant, key, { type: "merge", patch: { spec: { admins: ["alice", "bob"] } } });
  await waitFor(client, RoleBinding, admins.metadata, ({ subjects }) => subjects?.length === 2);
  await client.delete(Tenant, key);
  if (cluster.hasControllers) await waitForDeletion(client, Namespace, { name: namespace });
}, 60_000);
