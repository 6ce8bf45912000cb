import { manager } from "@windlass/runtime";
import { Namespace, ResourceQuota } from "@windlass/runtime/kinds";
import { startCluster, waitFor, waitForCondition, waitForDeletion } from "@windlass/testing";
import { expect, test } from "vitest";
import { Tenant, tenant } from "./tenant.ts";

test("a tenant has a namespace with a quota, and both go with it", async () => {
  await using cluster = await startCluster();
  await cluster.install(Tenant);
  await cluster.run("tenant", (options) => manager(options).add(tenant));
  const { client } = cluster;
  const key = { name: `acme-${Date.now().toString(36)}` };
  await client.create(Tenant, { metadata: key, spec: {} });
  await waitForCondition(client, Tenant, key, "Ready");
  const namespace = `tenant-${key.name}`;
  const quota = await waitFor(client, ResourceQuota, { namespace, name: "tenant" }, (one) => one);
  expect(quota.spec?.hard).toEqual({ pods: "20" });
  await client.delete(Tenant, key);
  if (cluster.hasControllers) await waitForDeletion(client, Namespace, { name: namespace });
}, 60_000);
