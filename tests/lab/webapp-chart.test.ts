import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { startCluster, waitForCondition, waitForDeletion } from "@windlass/testing";
import { WebApp } from "@windlass/webapp";
import { expect, test } from "vitest";
import { makeImage } from "../../operators/webapp/scripts/image.ts";

const chart = join(import.meta.dirname, "..", "..", "operators", "webapp", "chart");
const helm = (...args: string[]) => execFileSync("helm", args, { stdio: ["ignore", "ignore", "inherit"] });

test("the chart installs an operator that works by the policy of its values, and goes without its CRD", async () => {
  await using cluster = await startCluster({ flavour: "cluster" });
  const { client } = cluster;
  const operator = await cluster.createNamespace("webapp-chart");
  const namespace = await cluster.createNamespace("webapp");
  const key = { namespace, name: "nginx-app" };
  const crd = { name: "webapps.example.com" };
  await makeImage();
  helm(
    "install",
    "webapp-operator",
    chart,
    "-n",
    operator,
    "--set",
    "policy.floatingImages=refuse",
    "--wait",
  );
  try {
    await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25" } });
    await waitForCondition(client, WebApp, key, "Ready", "True", { timeoutMs: 60_000 });
    const floating = { metadata: { namespace, name: "floating" }, spec: { image: "nginx" } };
    await expect(client.create(WebApp, floating)).rejects.toThrow("spec.image");
    await client.delete(WebApp, key);
    await waitForDeletion(client, WebApp, key, { timeoutMs: 60_000 });
  } finally {
    helm("uninstall", "webapp-operator", "-n", operator, "--wait");
    expect(await client.get(CustomResourceDefinition, crd)).toBeDefined();
    await client.delete(CustomResourceDefinition, crd);
    await waitForDeletion(client, CustomResourceDefinition, crd);
  }
});
